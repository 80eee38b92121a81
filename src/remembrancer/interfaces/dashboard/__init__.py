"""The memory in a browser: pages that are made on the server, their charts, and the little script they need."""
