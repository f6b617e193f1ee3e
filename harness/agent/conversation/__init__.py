"""The messages of a conversation: what is sent, how large it is, what fits. Pure."""
