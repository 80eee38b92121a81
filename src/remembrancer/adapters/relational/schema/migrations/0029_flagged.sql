-- Memories whose text tells a language model what to do have a tag, by which every recall counts those held back.
CREATE INDEX memories_flagged ON memories (workspace, occurred_to) WHERE tags LIKE '%"instruction-like"%';
