"""Protocols that the engine needs from outside. Adapters implement them."""
