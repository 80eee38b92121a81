"""The dashboard: server-rendered pages, their charts, and a small script."""
