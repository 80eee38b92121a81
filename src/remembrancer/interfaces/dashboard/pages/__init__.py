"""The pages, one module each: it reads data from the memory and renders a template."""
