-- How long rows may live: those that match every part given (NULL: not given) are erased once they are older than `after`
-- microseconds. Of this store, as the holds after it: not in an export.
CREATE TABLE retention_rules (
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  project TEXT, crew TEXT, agent TEXT, session TEXT, actor TEXT, kind TEXT, origin TEXT,
  after INTEGER NOT NULL, created_by TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) WITHOUT ROWID;

-- Legal holds. While `released_at` is NULL, no row that matches every part given is erased or shortened.
CREATE TABLE legal_holds (
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  project TEXT, crew TEXT, agent TEXT, session TEXT, actor TEXT, kind TEXT, origin TEXT,
  reason TEXT NOT NULL, placed_by TEXT NOT NULL, placed_at INTEGER NOT NULL, released_at INTEGER,
  PRIMARY KEY (workspace, id)
) WITHOUT ROWID;
