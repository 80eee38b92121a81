"""What a vault of markdown files says, and what is to become of its files and of the memories: decided, not done."""
