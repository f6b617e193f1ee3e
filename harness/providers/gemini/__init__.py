"""Gemini `generateContent`: requests in, replies out, as JSON, as a stream of events and as a list.

A content is one message of the core, its role `model` the core's `assistant`. The model and the way
to stream stand in the address.
"""

PLACE = 4
"""The place among the providers: where several could have been meant, the smaller one was."""
