"""The Anthropic Messages API: requests in, replies out, as JSON and as a stream of events.

`wire` is the face. Reading goes layout (where messages stand in the bytes) -> blocks (what they
say) -> validator (what the dialect refuses, by the table in rules). Writing is reply and stream;
reading an answer back is response and sse. The API has no published grammar for its refusals:
every rule carries the source that its text comes from.
"""
