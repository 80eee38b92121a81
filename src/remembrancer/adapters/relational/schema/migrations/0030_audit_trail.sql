-- Who did what, when. The trail of a workspace begins with the first write after this.
CREATE TABLE audit_trail (
  workspace TEXT NOT NULL, seq INTEGER NOT NULL, entry BLOB NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY (workspace, seq)
) WITHOUT ROWID;
CREATE TABLE audit_names (
  workspace TEXT NOT NULL, name BLOB NOT NULL, salt BLOB NOT NULL, pseudonym BLOB NOT NULL,
  PRIMARY KEY (workspace, name)
) WITHOUT ROWID;
