"""SQLite: the only place that knows it. The rest of the package is written for any relational database."""
