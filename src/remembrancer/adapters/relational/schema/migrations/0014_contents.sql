-- Whether a text is stored already: no hash of it, because what is equal is compared whole.
CREATE INDEX memories_by_beginning ON memories (workspace, substr(text, 1, 40));
