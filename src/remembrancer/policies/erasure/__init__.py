"""What an erasure removes besides what was named."""
