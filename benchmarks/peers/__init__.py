"""Other memory systems, each a real package in an environment and a process of its own, measured beside this one."""
