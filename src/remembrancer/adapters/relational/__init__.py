"""The records in a relational database: portable statements, and SQLite as the first dialect."""
