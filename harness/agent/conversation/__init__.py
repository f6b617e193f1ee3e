"""The messages of a conversation: what is sent, how large it is, what fits. All of it is pure.

`content` is about one message, `projection` turns stored rows into a request, `history_size`
measures a history and shortens it.
"""
