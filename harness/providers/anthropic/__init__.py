"""The Anthropic Messages API: requests in, replies out, as JSON and as a stream of events.

`record` says what the house must know of it, `provider` is its face. A request goes through
`blocks` (what its messages say), `fields`, `validator` and `totals` (what the dialect refuses, by
`rules`); `request` puts it together. `thinking` and `compaction` check what this provider has
signed (`signatures`), `threads` puts back together a conversation that the provider stores. Writing
is `reply` and `stream`; reading an answer back is `response`. The API has no published grammar for
its refusals: every rule names the source that its text comes from.
"""
