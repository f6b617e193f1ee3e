"""The tests: a folder for each room of `harness`, and the rules of the tree itself."""
