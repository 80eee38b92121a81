"""Pure decisions: the clock, randomness and the answers of models are parameters."""
