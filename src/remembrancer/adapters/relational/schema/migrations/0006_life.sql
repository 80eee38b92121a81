-- What a memory's life needs: how far streams are read, what old events leave behind, reviews, and what jobs did.

-- Up to which place a stream is in episodes, and what its reader left for the next.
ALTER TABLE streams ADD COLUMN segmented INTEGER NOT NULL DEFAULT 0;
ALTER TABLE streams ADD COLUMN note TEXT NOT NULL DEFAULT '{}';
CREATE INDEX streams_with_tails ON streams (workspace, project, crew, agent, session) WHERE last_seq > segmented;

ALTER TABLE exposures ADD COLUMN query TEXT NOT NULL DEFAULT '';
ALTER TABLE exposures ADD COLUMN session TEXT NOT NULL DEFAULT '';
CREATE INDEX exposures_by_session ON exposures (session, kind) WHERE session <> '';

-- The oldest of a type are looked for when events are archived; whether anything names an event, when it leaves.
CREATE INDEX events_by_type ON events (workspace, type, occurred_at);
CREATE INDEX cues_by_event ON cues (event) WHERE event IS NOT NULL;

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
CREATE INDEX archive_by_time ON archive (workspace, occurred_at);

-- Append-only: each rating with the state of FSRS before and after it. Two of a memory at one microsecond cannot be.
CREATE TABLE reviews (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  at INTEGER NOT NULL, rating INTEGER NOT NULL, evidence_until INTEGER NOT NULL, previous INTEGER,
  stability_before REAL NOT NULL, stability REAL NOT NULL,
  difficulty_before REAL NOT NULL, difficulty REAL NOT NULL, rated_by TEXT NOT NULL,
  PRIMARY KEY (memory, at)
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
