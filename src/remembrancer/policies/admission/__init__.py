"""Which events become memories, and what a new memory holds."""
