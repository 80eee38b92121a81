-- What the vectors of a model are there for: they answer, are being built, are kept for a roll-back, or were dropped. Of this
-- store: not in an export.
CREATE TABLE vector_spaces (
  workspace TEXT NOT NULL, model TEXT NOT NULL, role TEXT NOT NULL, since INTEGER NOT NULL,
  PRIMARY KEY (workspace, model)
) WITHOUT ROWID;
CREATE UNIQUE INDEX vector_spaces_answering ON vector_spaces (workspace) WHERE role = 'answers';
