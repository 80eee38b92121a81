"""State shared by the processes of one server: locks, the turn to do background work, and small tables of numbers."""
