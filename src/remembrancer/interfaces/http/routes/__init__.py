"""The routes of version 1, a file for each noun."""
