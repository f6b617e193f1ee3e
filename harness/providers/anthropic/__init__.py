"""The Anthropic Messages API: requests in, replies out, as JSON and as a stream of events.

`wire` is the face. Reading goes last_request (which messages are new) -> blocks and notes
(what they say) -> fields -> validator, tally, ending (what the dialect refuses, by the tables of
rules). `bindings` and `compaction` check what this wire has signed (`seals`), `threads` puts a
conversation that the provider keeps back together, `reading` is the result. Writing is reply and
stream, with `errors` and `headers`; `facts` answers counts and models; reading an answer back is
response and sse. The API has no published grammar for its refusals: every rule carries the source
that its text comes from.
"""
