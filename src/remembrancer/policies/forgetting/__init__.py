"""How the strength of a memory decreases with time and increases with use."""
