"""Folders of markdown files, as vaults."""
