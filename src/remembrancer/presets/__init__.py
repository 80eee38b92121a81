"""Presets: named data that choose the policies of each stage and their numbers."""
