"""The memory over HTTP: for programs in any language, and for people with a browser."""
