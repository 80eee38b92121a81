-- What reading the journal needs: the order of recording, its words, and who changed a priority.

-- How many events were recorded in each workspace: a position is given once, though its event may leave.
CREATE TABLE positions (workspace TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
ALTER TABLE events ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE events SET position = numbered.place
  FROM (SELECT n, row_number() OVER (PARTITION BY workspace ORDER BY n) AS place FROM events) AS numbered
  WHERE numbered.n = events.n;
INSERT INTO positions SELECT workspace, count(*) FROM events GROUP BY workspace;
CREATE UNIQUE INDEX events_by_position ON events (workspace, position);

-- A page of the journal is read in its whole order, from wherever the page before ended.
DROP INDEX events_by_time;
DROP INDEX events_by_type;
CREATE INDEX events_by_time ON events (workspace, occurred_at, seq, id);
CREATE INDEX events_by_type ON events (workspace, type, occurred_at, seq, id);
CREATE INDEX events_marked ON events (workspace, occurred_at, seq, id) WHERE priority <> 'normal';
CREATE INDEX events_severe ON events (workspace, occurred_at, seq, id) WHERE severity <> 'info';
DROP INDEX archive_by_time;
CREATE INDEX archive_by_time ON archive (workspace, occurred_at, seq, id);

-- Append-only; also of events that are in the archive by now. The same change at one microsecond is one line.
CREATE TABLE priority_changes (
  workspace TEXT NOT NULL, event BLOB NOT NULL, at INTEGER NOT NULL,
  previous TEXT NOT NULL, priority TEXT NOT NULL, changed_by TEXT NOT NULL, reason TEXT NOT NULL,
  PRIMARY KEY (workspace, event, at, previous, priority, changed_by, reason)
) WITHOUT ROWID;

-- The words of events come analysed, as those of cues do; only which event has a word is kept, not where. Those of the
-- events that are here already are filled in by the program, which knows how to analyse.
CREATE VIRTUAL TABLE events_fts USING fts5 (
  words, content = '', contentless_delete = 1, detail = none,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn Cf'"
);
CREATE TRIGGER events_leave_full_text AFTER DELETE ON events BEGIN
  DELETE FROM events_fts WHERE rowid = old.n;
END;
CREATE VIRTUAL TABLE archive_fts USING fts5 (
  words, content = '', contentless_delete = 1, detail = none,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn Cf'"
);
CREATE TRIGGER archive_leaves_full_text AFTER DELETE ON archive BEGIN
  DELETE FROM archive_fts WHERE rowid = old.n;
END;
