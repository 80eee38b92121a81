"""How the strength of a memory falls with time and rises with use."""
