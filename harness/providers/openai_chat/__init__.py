"""OpenAI Chat Completions: requests in, replies out, as JSON and as a stream of chunks.

`wire` is the face. Reading goes `last_request` (which messages are new) -> `blocks` (what they say)
-> `validator` (what the dialect refuses, by the table in `rules`). Writing is `reply` and `stream`;
reading an answer back is `response` and `assembly`. A message of the list is a message of the core,
one to one: each row of role `tool` is a message of its own, on a side of its own, and the rows of
role `system` or `developer` stand in the list as well. The text of those that come first is the
reading's `system` too.
"""
