"""Presets: the choices for each stage of the engine, as named data."""
