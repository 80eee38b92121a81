-- A cue the embedder failed on waits before it is tried again, so that it cannot hold up newer ones.
CREATE TABLE vector_retries (
  cue INTEGER NOT NULL REFERENCES cues (n) ON DELETE CASCADE,
  model TEXT NOT NULL, attempts INTEGER NOT NULL, retry_at INTEGER NOT NULL, error TEXT NOT NULL,
  PRIMARY KEY (cue, model)
) WITHOUT ROWID;
