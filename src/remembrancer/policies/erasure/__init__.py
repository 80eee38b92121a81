"""What an erasure removes besides the selected rows."""
