"""Where one episode of a conversation ends and the next begins: plan, ask a model if need be, apply."""
