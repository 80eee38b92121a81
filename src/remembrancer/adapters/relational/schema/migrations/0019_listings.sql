-- Every recall reads the pinned memories: without this index it would read all that have tags.
CREATE INDEX memories_pinned ON memories (workspace, occurred_to) WHERE tags LIKE '%"pinned"%';
-- Most memories are messages; the others are listed by kind.
CREATE INDEX memories_by_kind ON memories (workspace, kind, occurred_to) WHERE kind <> 'message';
