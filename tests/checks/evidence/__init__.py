"""Evidence of the checks."""
