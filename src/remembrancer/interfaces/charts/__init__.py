"""Pictures as inline SVG, made on the server: they need no script, and no style but that of assets/charts.css."""
