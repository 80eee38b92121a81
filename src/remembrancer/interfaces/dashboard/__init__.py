"""The dashboard: pages rendered on the server, their charts, and a little script."""
