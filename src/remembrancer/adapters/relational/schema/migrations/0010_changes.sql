-- The change sequence of each workspace by itself, so that writers of different workspaces need not wait for each other.
-- Each goes on from where the common one was: no number is given twice.
CREATE TABLE changes (workspace TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO changes SELECT DISTINCT workspace, (SELECT change FROM sequence) FROM memories;
DROP TABLE sequence;
