"""The vault, a folder of markdown files: parsing its files, and deciding what a sync changes. No I/O."""
