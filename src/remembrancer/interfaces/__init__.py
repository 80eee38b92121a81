"""How people and programs outside Python reach the memory. What they are told has one shape: `wire`."""
