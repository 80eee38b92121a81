"""The vault, a folder of markdown files: what its files say, and what a sync changes in files and memories. Decisions
only.
"""
