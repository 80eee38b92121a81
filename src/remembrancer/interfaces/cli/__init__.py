"""The command line: `remembrancer`."""
