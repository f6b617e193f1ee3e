"""OpenAI Chat Completions: requests in, replies out, as JSON and as a stream of chunks.

`record` says what the house must know of it, `provider` is its face. A request goes through
`blocks` (what its rows say), `fields` and `validator` (what the dialect refuses, by `rules`);
`request` puts it together. Writing is `reply` and `stream`; reading an answer back is `response`. A
message of the list is a message of the core, one to one: each row of role `tool` is a message of
its own, on a side of its own, and the rows of role `system` or `developer` stand in the list as
well. The text of those that come first is the reading's `system` too.
"""
