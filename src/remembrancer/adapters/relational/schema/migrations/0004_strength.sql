-- What time and use act on, what was shown to whom, what policies did, and how well it all went.
ALTER TABLE memories ADD COLUMN consolidated_at INTEGER;
ALTER TABLE memories ADD COLUMN importance_floor REAL NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN stability REAL NOT NULL DEFAULT 2.3065;
ALTER TABLE memories ADD COLUMN difficulty REAL NOT NULL DEFAULT 2.118103970459015;
ALTER TABLE memories ADD COLUMN last_reviewed_at INTEGER;
ALTER TABLE memories ADD COLUMN unhelpful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE embeddings ADD COLUMN indexed_at INTEGER; -- NULL: before this was noted

-- What is superseded has let go of its topic: told anew, the topic begins a memory of its own.
DROP INDEX memories_by_topic;
CREATE UNIQUE INDEX memories_by_topic ON memories (workspace, project, crew, agent, topic_key)
  WHERE topic_key IS NOT NULL AND status = 'active' AND superseded_by IS NULL;
CREATE INDEX memories_by_session ON memories (workspace, session, occurred_to) WHERE session <> '';
CREATE INDEX memories_by_source ON memories (workspace, source, occurred_to) WHERE source IS NOT NULL;
CREATE INDEX memories_tagged ON memories (workspace, occurred_to) WHERE tags <> '[]';

-- Append-only: which memory got how far, and when. `similarity` is the cosine it was found with. Two exposures of one kind
-- at one microsecond are one, so that importing a row twice adds nothing.
CREATE TABLE exposures (
  memory INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  kind TEXT NOT NULL, at INTEGER NOT NULL, similarity REAL,
  PRIMARY KEY (memory, kind, at)
) WITHOUT ROWID;

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
