"""English word rules. Questions reach them through `language.reading`."""
