"""Presets: named choices for each stage of the engine, as data."""
