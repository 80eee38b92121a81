"""Importers of other memory systems: each module reads the files of one system."""
