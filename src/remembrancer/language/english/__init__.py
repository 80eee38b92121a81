"""English word rules, used through `language.reading`."""
