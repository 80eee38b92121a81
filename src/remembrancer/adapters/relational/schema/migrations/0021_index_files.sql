-- The token of the last file written for an index. A file with another one is of other records, such as those of a
-- restored backup, and is not read. Of this store: not in an export.
CREATE TABLE index_files (
  workspace TEXT NOT NULL, model TEXT NOT NULL, token BLOB NOT NULL,
  PRIMARY KEY (workspace, model)
) WITHOUT ROWID;
