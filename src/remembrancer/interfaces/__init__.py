"""The ways to use a memory from outside of Python. Their answers share the JSON shapes in `wire`."""
