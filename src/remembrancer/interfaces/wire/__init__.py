"""The JSON shapes of the answers, shared by the command line (`--json`), HTTP and MCP."""
