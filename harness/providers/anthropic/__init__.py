"""The Anthropic Messages API: requests in, replies out, as JSON and as a stream of events.

`thinking` and `compaction` check what this provider signed (`signatures`); `threads` rebuilds a
stored conversation. Each rule names the source of its text.
"""
