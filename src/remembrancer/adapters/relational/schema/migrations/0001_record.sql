-- The journal, the memories formed from it, and what finds them.
-- Times are integer microseconds since 1970 UTC. A scope part that is not set is ''. Ids are 16-byte UUIDs.

-- The change sequence: every write to a memory or to its vectors takes the next number. Whoever keeps a copy (the resident
-- index of each process, an outside vector index) remembers the last number it has seen and reads on from there:
-- the outbox is a column, so it can neither be forgotten nor grow.
CREATE TABLE sequence (only INTEGER PRIMARY KEY CHECK (only = 1), change INTEGER NOT NULL);
INSERT INTO sequence VALUES (1, 0);

CREATE TABLE streams (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  UNIQUE (workspace, project, crew, agent, session)
);

CREATE TABLE events (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL, recorded_at INTEGER NOT NULL,
  type TEXT NOT NULL, severity TEXT NOT NULL, priority TEXT NOT NULL, actor TEXT, role TEXT NOT NULL,
  text TEXT NOT NULL, payload TEXT NOT NULL, refs TEXT NOT NULL, key TEXT, origin TEXT NOT NULL,
  UNIQUE (workspace, id)
);
CREATE UNIQUE INDEX events_by_key ON events (workspace, project, crew, agent, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX events_by_stream ON events (workspace, project, crew, agent, session, seq);
CREATE INDEX events_by_time ON events (workspace, occurred_at);

CREATE TABLE memories (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
  visibility TEXT NOT NULL, tier TEXT NOT NULL, kind TEXT NOT NULL,
  title TEXT, text TEXT NOT NULL, source TEXT, origin TEXT NOT NULL,
  occurred_from INTEGER NOT NULL, occurred_to INTEGER NOT NULL, recorded_at INTEGER NOT NULL,
  valid_from INTEGER, valid_until INTEGER, superseded_by BLOB, superseded_at INTEGER, retired_at INTEGER,
  topic_key TEXT, key TEXT, revision INTEGER NOT NULL, tags TEXT NOT NULL, metadata TEXT NOT NULL, status TEXT NOT NULL,
  importance REAL NOT NULL, priority INTEGER NOT NULL, confidence REAL NOT NULL, surprise REAL NOT NULL,
  retrieved INTEGER NOT NULL, shown INTEGER NOT NULL, used INTEGER NOT NULL, helped INTEGER NOT NULL,
  harmed INTEGER NOT NULL, last_retrieved_at INTEGER, last_shown_at INTEGER, last_used_at INTEGER,
  change INTEGER NOT NULL,
  UNIQUE (workspace, id)
);
CREATE UNIQUE INDEX memories_by_key ON memories (workspace, project, crew, agent, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX memories_by_topic ON memories (workspace, project, crew, agent, topic_key)
  WHERE topic_key IS NOT NULL AND status = 'active';
CREATE INDEX memories_by_time ON memories (workspace, occurred_to);
CREATE INDEX memories_by_change ON memories (workspace, change);

CREATE TABLE memory_events (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  event INTEGER NOT NULL REFERENCES events (n),
  PRIMARY KEY (memory, ordinal)
) WITHOUT ROWID;
CREATE INDEX memory_events_by_event ON memory_events (event);

-- A cue's full-text row has its n. `terms`: 32-bit hashes of its distinct terms, then how often each stands there (8 bits);
-- `length`: how many terms in all. The resident postings are read from these without analysing any text again.
CREATE TABLE cues (
  n INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: the index sweep remembers how far it has come

  workspace TEXT NOT NULL,
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  event INTEGER REFERENCES events (n),
  heading TEXT NOT NULL, text TEXT NOT NULL, terms BLOB NOT NULL, length INTEGER NOT NULL,
  UNIQUE (memory, ordinal)
);
CREATE INDEX cues_by_workspace ON cues (workspace, memory);

-- The words come analysed, parted by blanks: everything but blanks belongs to a word.
CREATE VIRTUAL TABLE cues_fts USING fts5 (
  words, content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn Cf'"
);
CREATE TRIGGER cues_leave_full_text AFTER DELETE ON cues BEGIN
  DELETE FROM cues_fts WHERE rowid = old.n;
END;

CREATE TABLE embeddings (
  n INTEGER PRIMARY KEY,
  cue INTEGER NOT NULL REFERENCES cues (n) ON DELETE CASCADE,
  model TEXT NOT NULL, dim INTEGER NOT NULL, truncated INTEGER NOT NULL,
  vector BLOB NOT NULL, -- little-endian float32, unit length
  UNIQUE (cue, model)
);

CREATE TABLE revisions (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  number INTEGER NOT NULL, title TEXT, text TEXT NOT NULL, replaced_at INTEGER NOT NULL,
  PRIMARY KEY (memory, number)
) WITHOUT ROWID;

CREATE TABLE relations (
  workspace TEXT NOT NULL,
  source INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  kind TEXT NOT NULL, weight REAL NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (source, target, kind)
) WITHOUT ROWID;
CREATE INDEX relations_by_target ON relations (target);
