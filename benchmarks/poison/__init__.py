"""Attacks on a memory through what it records, and how often they succeed against this package and against others."""
