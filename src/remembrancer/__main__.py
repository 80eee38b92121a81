"""`python -m remembrancer` runs the command line program `remembrancer`."""

from __future__ import annotations

from remembrancer.interfaces.cli.main import main

if __name__ == "__main__":
    main()
