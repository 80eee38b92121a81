-- Append-only: what was erased, by whom, and what went with it; no text of it. `purged_at` NULL: the file may still hold
-- traces. Of this store: not in an export.
CREATE TABLE erasures (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, id BLOB NOT NULL, at INTEGER NOT NULL, receipt TEXT NOT NULL, purged_at INTEGER,
  UNIQUE (workspace, id)
);
