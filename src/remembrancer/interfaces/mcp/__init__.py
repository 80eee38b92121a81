"""The Model Context Protocol: eight tools, two resources and a prompt over the memory, on the official SDK."""
