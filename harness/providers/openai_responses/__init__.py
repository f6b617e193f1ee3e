"""The OpenAI Responses API: items in, items out, and a server that may keep what came before.

`record` says what the house must know of it, `provider` is its face. A request goes through
`blocks`, `conversations`, `fields` and `validator` (with `rules`); `request` puts it together.
Writing is `reply` and `stream`; reading an answer back is `response`.

This API has a flat list of items. Neighbours of the assistant's side are one assistant message, and
results with the user's next text are one user message. Nulls, a usual status and an item's own `id`
are left out: agents may send the id or not, and the message's digest stays the same either way.
"""
