-- The words of the last rows without a full-text row: a few hundred at most, which a search reads.
CREATE TABLE waiting_words (
  n INTEGER PRIMARY KEY,
  indexed TEXT NOT NULL, row INTEGER NOT NULL, words TEXT NOT NULL
);
DROP TRIGGER events_leave_full_text;
CREATE TRIGGER events_leave_full_text AFTER DELETE ON events BEGIN
  DELETE FROM events_fts WHERE rowid = old.n;
  DELETE FROM waiting_words WHERE indexed = 'events' AND row = old.n;
END;
DROP TRIGGER archive_leaves_full_text;
CREATE TRIGGER archive_leaves_full_text AFTER DELETE ON archive BEGIN
  DELETE FROM archive_fts WHERE rowid = old.n;
  DELETE FROM waiting_words WHERE indexed = 'archive' AND row = old.n;
END;
DROP TRIGGER cues_leave_full_text;
CREATE TRIGGER cues_leave_full_text AFTER DELETE ON cues BEGIN
  DELETE FROM cues_fts WHERE rowid = old.n;
  DELETE FROM waiting_words WHERE indexed = 'cues' AND row = old.n;
END;
