"""OpenAI Chat Completions: requests in, replies out, as JSON and as a stream of chunks.

`record` says what the house must know of it, `provider` is its face. A request goes through
`blocks` (what its rows say), `fields` and `validator` (what the dialect refuses, by `rules`);
`request` puts it together. Writing is `reply` and `stream`; reading an answer back is `response`.
Each row is one message of the core, those of role `tool`, `system` and `developer` too. The text of
the system rows that come first is also the reading's `system`.
"""
