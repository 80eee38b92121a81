"""Named choices of the engine's stages, as data."""
