"""Charts as SVG without scripts: figures for the pages of the dashboard, and standalone documents."""
