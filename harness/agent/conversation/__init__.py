"""The messages of a conversation: what is sent, how large it is, what fits. All of it is pure.

`content` is about one message, `projection` turns stored rows into a request, `context_window`
measures a history and shortens it.
"""
