"""The use cases, one module each: gather what is needed, decide with pure functions, commit once."""
