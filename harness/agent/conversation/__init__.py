"""The messages of a conversation: their form in a request, their size, and the part that fits.
Pure."""
