"""Vaults in folders of markdown files."""
