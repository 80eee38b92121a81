"""Which events become memories, and what fields a new memory has."""
