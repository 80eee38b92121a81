"""One SQLite file: the record of truth, with full-text rows, vectors and a resident index derived from them."""
