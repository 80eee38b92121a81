-- Memories as of an earlier time: what a revision had besides its text, its cues, and the states between two writes.
ALTER TABLE revisions ADD COLUMN kind TEXT;
ALTER TABLE revisions ADD COLUMN tier TEXT;
ALTER TABLE revisions ADD COLUMN source TEXT;
ALTER TABLE revisions ADD COLUMN origin TEXT;
ALTER TABLE revisions ADD COLUMN visibility TEXT;
ALTER TABLE revisions ADD COLUMN session TEXT;
ALTER TABLE revisions ADD COLUMN occurred_from INTEGER;
ALTER TABLE revisions ADD COLUMN occurred_to INTEGER;
ALTER TABLE revisions ADD COLUMN valid_from INTEGER;
ALTER TABLE revisions ADD COLUMN tags TEXT;
ALTER TABLE revisions ADD COLUMN metadata TEXT;
ALTER TABLE revisions ADD COLUMN actor TEXT;
ALTER TABLE revisions ADD COLUMN role TEXT;

-- What a memory was, besides what it said: each state that another one followed, up to the time of that write.
CREATE TABLE past_states (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  until INTEGER NOT NULL,
  valid_until INTEGER, superseded_by BLOB, superseded_at INTEGER, retired_at INTEGER, status TEXT NOT NULL,
  importance REAL NOT NULL, importance_floor REAL NOT NULL, priority INTEGER NOT NULL, confidence REAL NOT NULL,
  surprise REAL NOT NULL, stability REAL NOT NULL, difficulty REAL NOT NULL, last_reviewed_at INTEGER,
  retrieved INTEGER NOT NULL, shown INTEGER NOT NULL, used INTEGER NOT NULL, helped INTEGER NOT NULL,
  unhelpful INTEGER NOT NULL, harmed INTEGER NOT NULL,
  last_retrieved_at INTEGER, last_shown_at INTEGER, last_used_at INTEGER,
  PRIMARY KEY (memory, until)
) WITHOUT ROWID;

-- When each memory was last written, as far as its row tells.
ALTER TABLE memories ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
UPDATE memories SET changed_at = max(
  recorded_at, ifnull(superseded_at, recorded_at), ifnull(retired_at, recorded_at),
  ifnull(last_retrieved_at, recorded_at), ifnull(last_shown_at, recorded_at), ifnull(last_used_at, recorded_at),
  ifnull(last_reviewed_at, recorded_at), ifnull(consolidated_at, recorded_at),
  ifnull((SELECT max(r.replaced_at) FROM revisions r WHERE r.memory = memories.n), recorded_at)
);

-- A memory has cues of several revisions now. Its table is made anew, and with it those that refer to it: dropping the
-- table would delete their rows.
CREATE TABLE kept_cues AS SELECT * FROM cues;
CREATE TABLE kept_embeddings AS SELECT * FROM embeddings;
CREATE TABLE kept_word_vectors AS SELECT * FROM word_vectors;
CREATE TABLE kept_vector_retries AS SELECT * FROM vector_retries;
DROP TABLE vector_retries;
DROP TABLE word_vectors;
DROP TABLE embeddings;
DROP TABLE cues;
CREATE TABLE cues (
  n INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: the index sweep remembers how far it has come

  workspace TEXT NOT NULL,
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  revision INTEGER NOT NULL, last INTEGER,
  ordinal INTEGER NOT NULL,
  event INTEGER REFERENCES events (n),
  heading TEXT NOT NULL, text TEXT NOT NULL, terms BLOB NOT NULL, length INTEGER NOT NULL,
  marks INTEGER NOT NULL DEFAULT 0, -- domain.memory.Mark
  start INTEGER, -- of a passage: the character of the event's text at which it begins
  UNIQUE (memory, revision, ordinal)
);
CREATE INDEX cues_in_use ON cues (memory, ordinal, last) WHERE last IS NULL; -- `last`: so that no row need be read
CREATE INDEX cues_by_workspace ON cues (workspace);
CREATE INDEX cues_by_event ON cues (event) WHERE event IS NOT NULL;
CREATE TRIGGER cues_leave_full_text AFTER DELETE ON cues BEGIN
  DELETE FROM cues_fts WHERE rowid = old.n;
END;
CREATE TABLE embeddings (
  n INTEGER PRIMARY KEY,
  cue INTEGER NOT NULL REFERENCES cues (n) ON DELETE CASCADE,
  model TEXT NOT NULL, dim INTEGER NOT NULL, truncated INTEGER NOT NULL,
  vector BLOB NOT NULL, -- little-endian float32, unit length
  indexed_at INTEGER, -- NULL: before this was noted
  digest BLOB, -- of what was embedded; NULL: not known. An equal text takes the vector over.
  UNIQUE (cue, model)
);
CREATE INDEX embeddings_by_digest ON embeddings (digest) WHERE digest IS NOT NULL;
CREATE TABLE word_vectors (
  cue INTEGER NOT NULL REFERENCES cues (n) ON DELETE CASCADE,
  model TEXT NOT NULL, signs BLOB NOT NULL,
  PRIMARY KEY (cue, model)
);
CREATE TABLE vector_retries (
  cue INTEGER NOT NULL REFERENCES cues (n) ON DELETE CASCADE,
  model TEXT NOT NULL, attempts INTEGER NOT NULL, retry_at INTEGER NOT NULL, error TEXT NOT NULL,
  PRIMARY KEY (cue, model)
) WITHOUT ROWID;
INSERT INTO cues (n, workspace, memory, revision, ordinal, event, heading, text, terms, length, marks, start)
  SELECT c.n, c.workspace, c.memory, m.revision, c.ordinal, c.event, c.heading, c.text, c.terms, c.length, c.marks, c.start
  FROM kept_cues c JOIN memories m ON m.n = c.memory;
INSERT INTO embeddings SELECT * FROM kept_embeddings;
INSERT INTO word_vectors SELECT * FROM kept_word_vectors;
INSERT INTO vector_retries SELECT * FROM kept_vector_retries;
DROP TABLE kept_cues;
DROP TABLE kept_embeddings;
DROP TABLE kept_word_vectors;
DROP TABLE kept_vector_retries;
