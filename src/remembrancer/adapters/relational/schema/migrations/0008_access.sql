-- Who may reach a workspace from elsewhere, and what was answered there. No memories: neither is in an export.

-- Of a key's token only the SHA-256 is kept; by it the key is found, and with it the workspace.
CREATE TABLE api_keys (
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  name TEXT NOT NULL, grants TEXT NOT NULL, digest BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER,
  PRIMARY KEY (workspace, id)
) WITHOUT ROWID;

-- Requests made under an idempotency key. `status` NULL: not answered yet; `body` NULL in one that is: not kept.
CREATE TABLE claims (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, at INTEGER NOT NULL,
  status INTEGER, media_type TEXT, body BLOB,
  UNIQUE (workspace, key)
);
CREATE INDEX claims_by_time ON claims (workspace, at);
