"""Charts as SVG without scripts: figures for the dashboard's pages, and documents that are files of their own."""
