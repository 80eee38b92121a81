"""Changes of strength: memories weaken with time and strengthen with use."""
