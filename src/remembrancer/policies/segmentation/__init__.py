"""Segmentation: where an episode of a conversation ends and the next begins."""
