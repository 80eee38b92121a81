"""The pages, a file each: what is asked of the memory, and the template that shows it."""
