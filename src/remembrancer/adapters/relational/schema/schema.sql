-- The journal, the memories formed from it, and what finds them.
-- Times are integer microseconds since 1970 UTC. A scope part that is not set is ''. Ids are 16-byte UUIDs.

-- The change sequence: every write to a memory or to its vectors takes the next number of its workspace. A copy of the
-- memories (the resident index of each process, an outside vector index) remembers the last number it has read and reads
-- on from there: no list of changes is kept that could grow or be forgotten.
CREATE TABLE changes (workspace TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE streams (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  segmented INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '{}', -- read into episodes up to this place
  UNIQUE (workspace, project, crew, agent, session)
);
CREATE INDEX streams_with_tails ON streams (workspace, project, crew, agent, session) WHERE last_seq > segmented;

CREATE TABLE events (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL, recorded_at INTEGER NOT NULL,
  type TEXT NOT NULL, severity TEXT NOT NULL, priority TEXT NOT NULL, actor TEXT, role TEXT NOT NULL,
  text TEXT NOT NULL, payload TEXT NOT NULL, refs TEXT NOT NULL, key TEXT, origin TEXT NOT NULL,
  position INTEGER NOT NULL DEFAULT 0, -- how many were recorded in the workspace with this one
  UNIQUE (workspace, id)
);
CREATE UNIQUE INDEX events_by_key ON events (workspace, project, crew, agent, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX events_by_stream ON events (workspace, project, crew, agent, session, seq);
CREATE INDEX events_by_time ON events (workspace, occurred_at, seq, id); -- the order of a page
CREATE INDEX events_by_type ON events (workspace, type, occurred_at, seq, id);
CREATE UNIQUE INDEX events_by_position ON events (workspace, position);
CREATE INDEX events_marked ON events (workspace, occurred_at, seq, id) WHERE priority <> 'normal';
CREATE INDEX events_severe ON events (workspace, occurred_at, seq, id) WHERE severity <> 'info';

-- How many events were recorded in each workspace: a position is given once, though its event may leave.
CREATE TABLE positions (workspace TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;

-- The words of events come analysed, as those of cues do; only which event has a word is kept, not where.
CREATE VIRTUAL TABLE events_fts USING fts5 (
  words, content = '', contentless_delete = 1, detail = none,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn Cf'"
);
CREATE TRIGGER events_leave_full_text AFTER DELETE ON events BEGIN
  DELETE FROM events_fts WHERE rowid = old.n;
  DELETE FROM waiting_words WHERE indexed = 'events' AND row = old.n;
END;

-- Append-only; also of events that are in the archive by now. The same change at one microsecond is one line.
CREATE TABLE priority_changes (
  workspace TEXT NOT NULL, event BLOB NOT NULL, at INTEGER NOT NULL,
  previous TEXT NOT NULL, priority TEXT NOT NULL, changed_by TEXT NOT NULL, reason TEXT NOT NULL,
  PRIMARY KEY (workspace, event, at, previous, priority, changed_by, reason)
) WITHOUT ROWID;

-- Events that no memory was formed from, cut. They keep their ids, keys and places: none of these is given again.
CREATE TABLE archive (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL, recorded_at INTEGER NOT NULL,
  type TEXT NOT NULL, severity TEXT NOT NULL, priority TEXT NOT NULL, actor TEXT, role TEXT NOT NULL,
  text TEXT NOT NULL, payload TEXT NOT NULL, refs TEXT NOT NULL, key TEXT, origin TEXT NOT NULL,
  archived_at INTEGER NOT NULL,
  UNIQUE (workspace, id)
);
CREATE UNIQUE INDEX archive_by_key ON archive (workspace, project, crew, agent, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX archive_by_stream ON archive (workspace, project, crew, agent, session, seq);
CREATE INDEX archive_by_time ON archive (workspace, occurred_at, seq, id);
CREATE VIRTUAL TABLE archive_fts USING fts5 (
  words, content = '', contentless_delete = 1, detail = none,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn Cf'"
);
CREATE TRIGGER archive_leaves_full_text AFTER DELETE ON archive BEGIN
  DELETE FROM archive_fts WHERE rowid = old.n;
  DELETE FROM waiting_words WHERE indexed = 'archive' AND row = old.n;
END;

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
  consolidated_at INTEGER, importance_floor REAL NOT NULL DEFAULT 0,
  stability REAL NOT NULL DEFAULT 2.3065, difficulty REAL NOT NULL DEFAULT 2.118103970459015,
  last_reviewed_at INTEGER, unhelpful INTEGER NOT NULL DEFAULT 0,
  actor TEXT, role TEXT, -- of the one event that it says again; NULL: of none, or of several
  changed_at INTEGER NOT NULL DEFAULT 0, -- when it was last written, by the time of that write
  worked REAL NOT NULL DEFAULT 0, failed REAL NOT NULL DEFAULT 0,
  UNIQUE (workspace, id)
);
CREATE UNIQUE INDEX memories_by_key ON memories (workspace, project, crew, agent, key) WHERE key IS NOT NULL;
-- What is superseded has let go of its topic: told anew, the topic begins a memory of its own.
CREATE UNIQUE INDEX memories_by_topic ON memories (workspace, project, crew, agent, topic_key)
  WHERE topic_key IS NOT NULL AND status = 'active' AND superseded_by IS NULL;
-- Whether a text is stored already: no hash of it, because what is equal is compared whole.
CREATE INDEX memories_by_beginning ON memories (workspace, substr(text, 1, 40));
CREATE INDEX memories_by_time ON memories (workspace, occurred_to);
CREATE INDEX memories_by_change ON memories (workspace, change);
CREATE INDEX memories_by_session ON memories (workspace, session, occurred_to) WHERE session <> '';
CREATE INDEX memories_by_source ON memories (workspace, source, occurred_to) WHERE source IS NOT NULL;
CREATE INDEX memories_tagged ON memories (workspace, occurred_to) WHERE tags <> '[]';
-- Most memories are messages; the others are listed by kind.
CREATE INDEX memories_by_kind ON memories (workspace, kind, occurred_to) WHERE kind <> 'message';
CREATE INDEX memories_pinned ON memories (workspace, occurred_to) WHERE tags LIKE '%"pinned"%'; -- every recall reads these
CREATE INDEX memories_flagged ON memories (workspace, occurred_to) WHERE tags LIKE '%"instruction-like"%';
CREATE INDEX memories_alias ON memories (workspace, occurred_to) WHERE tags LIKE '%"alias"%'; -- questions with an unknown name read these

CREATE TABLE memory_events (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  event INTEGER NOT NULL REFERENCES events (n),
  PRIMARY KEY (memory, ordinal)
) WITHOUT ROWID;
CREATE INDEX memory_events_by_event ON memory_events (event);

-- A cue's full-text row has its n. `terms`: 32-bit hashes of its distinct terms, then how often each stands there (8 bits);
-- `length`: how many terms in all. The resident postings are read from these without analysing any text again.
-- A cue belongs to the memory's revisions from `revision` to `last`; NULL: also to the present one.
CREATE TABLE cues (
  n INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: the index sweep remembers how far it has come

  workspace TEXT NOT NULL,
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  revision INTEGER NOT NULL, last INTEGER,
  ordinal INTEGER NOT NULL,
  event INTEGER REFERENCES events (n),
  heading TEXT NOT NULL, text TEXT NOT NULL, terms BLOB NOT NULL, length INTEGER NOT NULL,
  marks INTEGER NOT NULL DEFAULT 0, -- domain.memory.Mark
  start INTEGER, -- of a passage: the character of the event's text at which it begins; -1: the text is the event's, and
                 -- is not stored again: `text` is ''
  UNIQUE (memory, revision, ordinal)
);
CREATE INDEX cues_in_use ON cues (memory, ordinal, last) WHERE last IS NULL; -- `last`: so that no row need be read
CREATE INDEX cues_by_workspace ON cues (workspace);
CREATE INDEX cues_by_event ON cues (event) WHERE event IS NOT NULL;

-- The words come analysed, parted by blanks: everything but blanks belongs to a word.
CREATE VIRTUAL TABLE cues_fts USING fts5 (
  words, content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn Cf'"
);
CREATE TRIGGER cues_leave_full_text AFTER DELETE ON cues BEGIN
  DELETE FROM cues_fts WHERE rowid = old.n;
  DELETE FROM waiting_words WHERE indexed = 'cues' AND row = old.n;
END;

CREATE TABLE embeddings (
  n INTEGER PRIMARY KEY,
  cue INTEGER NOT NULL REFERENCES cues (n) ON DELETE CASCADE,
  model TEXT NOT NULL, dim INTEGER NOT NULL, truncated INTEGER NOT NULL,
  vector BLOB NOT NULL, -- ports.quantised; of older versions: little-endian float32
  indexed_at INTEGER, -- NULL: before this was noted
  digest BLOB, -- of what was embedded; NULL: not known. An equal text takes the vector over.
  UNIQUE (cue, model)
);
CREATE INDEX embeddings_by_digest ON embeddings (digest) WHERE digest IS NOT NULL;
CREATE INDEX embeddings_truncated ON embeddings (cue, model) WHERE truncated <> 0;

-- The signs of the vectors of a cue's words, a bit a component, word after word.
CREATE TABLE word_vectors (
  cue INTEGER NOT NULL REFERENCES cues (n) ON DELETE CASCADE,
  model TEXT NOT NULL, signs BLOB NOT NULL,
  PRIMARY KEY (cue, model)
);

CREATE TABLE revisions (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  number INTEGER NOT NULL, title TEXT, text TEXT NOT NULL, replaced_at INTEGER NOT NULL,
  kind TEXT, tier TEXT, source TEXT, origin TEXT, visibility TEXT, session TEXT, -- kind NULL: only the text is known
  occurred_from INTEGER, occurred_to INTEGER, valid_from INTEGER, tags TEXT, metadata TEXT, actor TEXT, role TEXT,
  PRIMARY KEY (memory, number)
) WITHOUT ROWID;

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
  worked REAL NOT NULL DEFAULT 0, failed REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (memory, until)
) WITHOUT ROWID;

CREATE TABLE relations (
  workspace TEXT NOT NULL,
  source INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  kind TEXT NOT NULL, weight REAL NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (source, target, kind)
) WITHOUT ROWID;
CREATE INDEX relations_by_target ON relations (target);
-- A cue the embedder failed on waits before it is tried again, so that it cannot hold up newer ones.
CREATE TABLE vector_retries (
  cue INTEGER NOT NULL REFERENCES cues (n) ON DELETE CASCADE,
  model TEXT NOT NULL, attempts INTEGER NOT NULL, retry_at INTEGER NOT NULL, error TEXT NOT NULL,
  PRIMARY KEY (cue, model)
) WITHOUT ROWID;
-- How long the vectors of a model are in each workspace: the first one binds the others. Asking the vectors themselves
-- would read past those of every other model.
CREATE TABLE vector_models (
  workspace TEXT NOT NULL, model TEXT NOT NULL, dim INTEGER NOT NULL,
  PRIMARY KEY (workspace, model)
) WITHOUT ROWID;
-- What the vectors of a model are there for: they answer, are being built, are kept for a roll-back, or were dropped. Of this
-- store: not in an export.
CREATE TABLE vector_spaces (
  workspace TEXT NOT NULL, model TEXT NOT NULL, role TEXT NOT NULL, since INTEGER NOT NULL,
  PRIMARY KEY (workspace, model)
) WITHOUT ROWID;
CREATE UNIQUE INDEX vector_spaces_answering ON vector_spaces (workspace) WHERE role = 'answers';
-- Append-only: which memory got how far, when and in whose session. `similarity` is the cosine it was found with. Two exposures of one kind
-- at one microsecond are one, so that importing a row twice adds nothing.
CREATE TABLE exposures (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  kind TEXT NOT NULL, at INTEGER NOT NULL, similarity REAL,
  query TEXT NOT NULL DEFAULT '', session TEXT NOT NULL DEFAULT '',
  project TEXT NOT NULL DEFAULT '', crew TEXT NOT NULL DEFAULT '', agent TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (memory, kind, at)
) WITHOUT ROWID;
CREATE INDEX exposures_by_session ON exposures (session, kind) WHERE session <> '';

-- Append-only: each rating with the state of FSRS before and after it. Two of a memory at one microsecond cannot be.
CREATE TABLE reviews (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  at INTEGER NOT NULL, rating INTEGER NOT NULL, evidence_until INTEGER NOT NULL, previous INTEGER,
  stability_before REAL NOT NULL, stability REAL NOT NULL,
  difficulty_before REAL NOT NULL, difficulty REAL NOT NULL, rated_by TEXT NOT NULL,
  PRIMARY KEY (memory, at)
) WITHOUT ROWID;

-- Append-only: each memory's share in the outcome of a task, and what that changed. The scope is that of the report.
CREATE TABLE credits (
  workspace TEXT NOT NULL,
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  outcome BLOB NOT NULL,
  at INTEGER NOT NULL, result TEXT NOT NULL, basis TEXT NOT NULL, share REAL NOT NULL,
  project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
  recall BLOB, task TEXT NOT NULL, note TEXT NOT NULL,
  worked_before REAL NOT NULL, worked REAL NOT NULL, failed_before REAL NOT NULL, failed REAL NOT NULL,
  confidence_before REAL NOT NULL, confidence REAL NOT NULL, stability_before REAL NOT NULL, stability REAL NOT NULL,
  PRIMARY KEY (memory, outcome)
) WITHOUT ROWID;
CREATE INDEX credits_by_outcome ON credits (workspace, outcome);

-- Append-only too: the same thing done to a memory at the same microsecond for the same reason is one line.
CREATE TABLE audit (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  at INTEGER NOT NULL, action TEXT NOT NULL, reason TEXT NOT NULL,
  PRIMARY KEY (memory, at, action, reason)
) WITHOUT ROWID;

-- One row a day for the workspace (crew '') and for each crew. A metric without data is NULL.
CREATE TABLE health_snapshots (
  workspace TEXT NOT NULL, crew TEXT NOT NULL, day TEXT NOT NULL, taken_at INTEGER NOT NULL,
  freshness REAL, coverage REAL, coherence REAL, efficiency REAL, reachability REAL, score REAL,
  PRIMARY KEY (workspace, crew, day)
) WITHOUT ROWID;

-- The last run of each job. Of this machine, as the two after it: not in an export.
CREATE TABLE runs (
  workspace TEXT NOT NULL, job TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,
  done INTEGER NOT NULL, failed INTEGER NOT NULL, remaining INTEGER NOT NULL, reason TEXT NOT NULL, error TEXT NOT NULL,
  PRIMARY KEY (workspace, job)
) WITHOUT ROWID;

-- A piece of work that failed waits before it is tried again, so that it cannot hold up newer ones.
CREATE TABLE deferrals (
  workspace TEXT NOT NULL, job TEXT NOT NULL, item TEXT NOT NULL,
  attempts INTEGER NOT NULL, retry_at INTEGER NOT NULL, error TEXT NOT NULL,
  PRIMARY KEY (workspace, job, item)
) WITHOUT ROWID;

-- Append-only: what language models were asked, and what that cost in US dollars (NULL: not known). `took` in microseconds.
CREATE TABLE model_calls (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, at INTEGER NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL, outcome TEXT NOT NULL,
  requests INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, took INTEGER NOT NULL,
  cost REAL, error TEXT NOT NULL
);
CREATE INDEX model_calls_by_time ON model_calls (workspace, at);

-- Who may reach a workspace from elsewhere. Of a key's token only the SHA-256 is kept; by it the key is found, and with it
-- the workspace. No memories, as what is after it: in no export.
CREATE TABLE api_keys (
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  name TEXT NOT NULL, grants TEXT NOT NULL, digest BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER,
  project TEXT, crew TEXT, agent TEXT, session TEXT, role TEXT,
  PRIMARY KEY (workspace, id)
) WITHOUT ROWID;

-- Requests made under an idempotency key, of which only a hash is kept. `status` NULL: not answered yet; `body` NULL in
-- one that is: not kept; `media_type` NULL too: erased.
CREATE TABLE claims (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, at INTEGER NOT NULL,
  status INTEGER, media_type TEXT, body BLOB,
  UNIQUE (workspace, key)
);
CREATE INDEX claims_by_time ON claims (workspace, at);

-- Append-only: what was erased, by whom, and what went with it; no text of it. `purged_at` NULL: the file may still hold
-- traces. Of this store: not in an export.
CREATE TABLE erasures (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, id BLOB NOT NULL, at INTEGER NOT NULL, receipt TEXT NOT NULL, purged_at INTEGER,
  UNIQUE (workspace, id)
);

-- Append-only: who did what, when. `entry`: the canonical bytes of domain.audit, no text. `hash`: SHA-256 of the hash before
-- it and the entry. Of this store: not in an export.
CREATE TABLE audit_trail (
  workspace TEXT NOT NULL, seq INTEGER NOT NULL, entry BLOB NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY (workspace, seq)
) WITHOUT ROWID;
-- The names that entries have as pseudonyms. An erasure deletes a name; its entries stay.
CREATE TABLE audit_names (
  workspace TEXT NOT NULL, name BLOB NOT NULL, salt BLOB NOT NULL, pseudonym BLOB NOT NULL,
  PRIMARY KEY (workspace, name)
) WITHOUT ROWID;

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

-- Answers kept on request, to be given again: scores, and of each memory its revision and state; no text but the question.
CREATE TABLE kept_recalls (
  n INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
  at INTEGER NOT NULL, query TEXT NOT NULL, answer TEXT NOT NULL,
  UNIQUE (workspace, id)
);

-- The token of the last file written for an index. A file with another one is of other records, such as those of a
-- restored backup, and is not read. Of this store: not in an export.
CREATE TABLE index_files (
  workspace TEXT NOT NULL, model TEXT NOT NULL, token BLOB NOT NULL,
  PRIMARY KEY (workspace, model)
) WITHOUT ROWID;

-- The words of the last rows without a full-text row: a few hundred at most, which a search reads. They get their full-text
-- rows all at once, because one at a time takes longer than everything else of a write. Of this file: not in an export.
CREATE TABLE waiting_words (
  n INTEGER PRIMARY KEY,
  indexed TEXT NOT NULL, row INTEGER NOT NULL, words TEXT NOT NULL
);
