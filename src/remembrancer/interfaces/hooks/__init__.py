"""Hooks of coding agents: a short client process for each event, and the server that it asks."""
