"""`python -m harness` runs the same program as the console script."""

import sys

if not sys.flags.safe_path and sys.path[0] != __file__.rpartition("/harness/")[0]:
    # `-m` puts the current folder first, and each import below would look for a file in it.
    del sys.path[0]

from harness.cli import main

if __name__ == "__main__":
    main()
