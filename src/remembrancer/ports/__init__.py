"""What the engine needs from the outside world, as protocols. Adapters implement them."""
