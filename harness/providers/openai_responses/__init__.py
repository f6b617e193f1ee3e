"""The OpenAI Responses API: items in, items out, and a server that may store them.

Neighbours of the assistant's side are one assistant message; results and the user's next text are
one user message. Nulls, usual statuses and item ids are dropped: agents may omit ids at no change
of digest.
"""

PLACE = 3
"""The place among the providers: where several could have been meant, the smaller one was."""
