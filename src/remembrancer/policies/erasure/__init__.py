"""The rows that an erasure removes besides the selected ones."""
