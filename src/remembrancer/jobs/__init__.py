"""When engine functions run: sweeps whose work is derived from state."""
