"""The Anthropic Messages API: requests in, replies out, as JSON and as a stream of events.

`record` says what the house must know of it, `provider` is its face. A request goes through
`blocks` (what its messages say), `fields`, `validator` and `totals` (what the dialect refuses, by
`rules`); `request` puts it together. `thinking` and `compaction` check what this provider has
signed (`signatures`), `threads` puts a stored conversation back together. Writing is `reply` and
`stream`; reading an answer back is `response`. Every rule names the source of its text.
"""
