"""The vault, a folder of markdown files: what its files say, and what a sync changes. Decisions only."""
