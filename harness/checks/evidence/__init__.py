"""Evidence that several checks read from a history; families of checks import only from here."""
