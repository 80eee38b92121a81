"""Background jobs shared by several workers: procrastinate's queue in the PostgreSQL database of the memory."""
