"""PostgreSQL, the second dialect of the record store."""
