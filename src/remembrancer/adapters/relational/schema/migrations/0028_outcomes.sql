-- Outcomes of tasks: the evidence for and against each memory, and the log of what each outcome changed.
ALTER TABLE memories ADD COLUMN worked REAL NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN failed REAL NOT NULL DEFAULT 0;
ALTER TABLE past_states ADD COLUMN worked REAL NOT NULL DEFAULT 0;
ALTER TABLE past_states ADD COLUMN failed REAL NOT NULL DEFAULT 0;

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
