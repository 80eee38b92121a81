-- What a cue's text holds of the kinds that questions ask for (domain.memory.Mark). 0 also where it was never looked for.
ALTER TABLE cues ADD COLUMN marks INTEGER NOT NULL DEFAULT 0;

-- The signs of the vectors of a cue's words, a bit a component, word after word. Apart from the cue's own vector, which
-- is read for every search where these are read for few cues.
CREATE TABLE word_vectors (
  cue INTEGER NOT NULL REFERENCES cues (n) ON DELETE CASCADE,
  model TEXT NOT NULL, signs BLOB NOT NULL,
  PRIMARY KEY (cue, model)
);
