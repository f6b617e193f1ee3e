"""The OpenAI Responses API: items in, items out, and a server that may keep what came before.

`record` says what the house must know of it, `provider` is its face. A request goes through
`blocks` (what each item says), `conversations` (items grouped into messages, behind what the server
stores), `fields` and `validator` (what the dialect refuses, by `rules`); `request` puts it
together. Writing is `reply` and `stream`; reading an answer back is `response`.

The core knows messages, this API a flat list of items. Neighbours of the assistant's side (texts,
calls, reasoning, whatever a response can hold) are one assistant message, as they were said in one
response. Results are blocks of a user message, and the user's next text joins them, so that a
conversation reads as it does where roles alternate. A message that was sent whole can be written
again: what the core has no name for is kept in a block's `extra`, or the item as `Opaque`.

Left out are an item's own `id`, its status where it is the usual one, and nulls. An id is the
server's name for an item; agents may send it or not, and a message keeps its digest either way, as
the answer does that it was read from. The rules that are about ids look at the items themselves.
"""
