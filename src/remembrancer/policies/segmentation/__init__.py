"""Segmentation: where one episode of a conversation ends and the next begins. Plan, ask a model where needed, apply."""
