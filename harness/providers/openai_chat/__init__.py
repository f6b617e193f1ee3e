"""OpenAI Chat Completions: requests in, replies out, as JSON and as a stream of chunks.

Each row is one message of the core, also for the roles `tool`, `system` and `developer`. The text
of the leading system rows is also the reading's `system`.
"""

PLACE = 2
"""The place among the providers: where several could have been meant, the smaller one was."""
