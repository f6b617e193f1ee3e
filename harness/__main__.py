"""`python -m harness` runs the same program as the console script."""

from __future__ import annotations

from harness.cli import main

if __name__ == "__main__":
    main()
