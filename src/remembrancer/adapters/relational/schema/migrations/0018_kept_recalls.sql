-- Answers kept on request, to be given again: scores, and of each memory its revision and state; no text but the question.
CREATE TABLE kept_recalls (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
  at INTEGER NOT NULL, query TEXT NOT NULL, answer TEXT NOT NULL,
  UNIQUE (workspace, id)
);
