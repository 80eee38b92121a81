"""Qdrant as a source of candidates: in this process over a folder, or a server."""
