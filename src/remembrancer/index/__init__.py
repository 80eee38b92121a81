"""The resident index: each workspace as arrays in memory, fed by a store's changes and caught up before each search.

It knows no connection and no SQL: all that it reads of the records comes through `ports.changes.ChangeFeed`.
"""
