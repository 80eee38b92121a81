"""The English word rules."""
