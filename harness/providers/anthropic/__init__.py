"""The Anthropic Messages API: requests in, replies out, as JSON and as a stream of events.

`thinking` and `compaction` check what this provider signed (`signatures`); `threads` rebuilds a
stored conversation. Each rule names the source of its text.
"""

PLACE = 1
"""The place among the providers: where several could have been meant, the smaller one was."""
