"""A server for the Model Context Protocol, on the official SDK: eleven tools, two resources and a prompt."""
