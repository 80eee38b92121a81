"""What the processes of one server share: locks, the turn to do background work, and small tables of numbers."""
