"""The resident index: each workspace as arrays in memory, updated from the store's change feed before each search.

It contains no SQL and holds no connection; it reads records only through `ports.changes.ChangeFeed`.
"""
