-- Who spoke: of a memory that says the words of one event.
ALTER TABLE memories ADD COLUMN actor TEXT;
ALTER TABLE memories ADD COLUMN role TEXT;
UPDATE memories SET (actor, role) = (
  SELECT e.actor, e.role FROM memory_events f JOIN events e ON e.n = f.event WHERE f.memory = memories.n
)
WHERE (SELECT count(*) FROM memory_events f WHERE f.memory = memories.n) = 1 AND EXISTS (
  SELECT 1 FROM memory_events f JOIN events e ON e.n = f.event
  WHERE f.memory = memories.n AND e.type = memories.kind AND e.text = memories.text
);
