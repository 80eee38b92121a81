"""A server for the Model Context Protocol, on the official SDK: eight tools, two resources and a prompt."""
