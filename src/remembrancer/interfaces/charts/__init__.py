"""Charts as SVG without scripts: figures for dashboard pages, and standalone documents."""
