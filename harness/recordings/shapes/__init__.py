"""Shapes: one module a provider, JSON of its requests and answers to messages.

Each module has `request(value) -> Asked`, `answer(body, content_type) -> Parsed`. They read what
was recorded, however odd, and never raise: a field of the wrong type is left out or kept `Opaque`.
A request that has no list of messages is `None`.
"""
