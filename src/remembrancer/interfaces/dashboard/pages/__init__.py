"""The pages, one module each: what a page reads from the memory, and its template."""
