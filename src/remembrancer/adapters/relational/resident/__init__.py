"""The resident index: arrays of one workspace held in memory, derived from the rows, caught up before each search."""
