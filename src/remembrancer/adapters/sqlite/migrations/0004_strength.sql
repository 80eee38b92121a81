-- What time and use act on, what was shown to whom, what policies did, and how well it all went.
ALTER TABLE memories ADD COLUMN consolidated_at INTEGER;
ALTER TABLE memories ADD COLUMN importance_floor REAL NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN stability REAL NOT NULL DEFAULT 2.3065;
ALTER TABLE memories ADD COLUMN difficulty REAL NOT NULL DEFAULT 2.118103970459015;
ALTER TABLE memories ADD COLUMN last_reviewed_at INTEGER;
ALTER TABLE memories ADD COLUMN unhelpful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE embeddings ADD COLUMN indexed_at INTEGER; -- NULL: before this was noted

CREATE INDEX memories_by_session ON memories (workspace, session) WHERE session <> '';
CREATE INDEX memories_by_source ON memories (workspace, source) WHERE source IS NOT NULL;

-- Append-only: which memory got how far, and when. `similarity` is the cosine it was found with.
CREATE TABLE exposures (
  n INTEGER PRIMARY KEY,
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  kind TEXT NOT NULL, at INTEGER NOT NULL, similarity REAL
);
CREATE INDEX exposures_by_memory ON exposures (memory);
CREATE INDEX exposures_by_time ON exposures (at);

CREATE TABLE audit (
  n INTEGER PRIMARY KEY,
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  action TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL
);
CREATE INDEX audit_by_memory ON audit (memory);

-- One row a day for the workspace (crew '') and for each crew. A metric without data is NULL.
CREATE TABLE health_snapshots (
  workspace TEXT NOT NULL, crew TEXT NOT NULL, day TEXT NOT NULL, taken_at INTEGER NOT NULL,
  freshness REAL, coverage REAL, coherence REAL, efficiency REAL, reachability REAL, score REAL,
  PRIMARY KEY (workspace, crew, day)
) WITHOUT ROWID;
