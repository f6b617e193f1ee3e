"""The versions of Python and of packages that the project takes, as rows that are played."""
