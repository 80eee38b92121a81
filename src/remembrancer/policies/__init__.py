"""Pure functions and rules. The clock, random numbers and the answers of models are arguments."""
