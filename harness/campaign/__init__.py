"""Generated scenarios: what nobody thought of writing down.

`histories` draws stored sessions, valid or damaged, `scripts` what the model, the tools and the
user say, `scenarios` a whole scenario of these. All of them draw small integers that index tables:
that is several times as fast as strategies of text and dictionaries, and a smaller integer is a
simpler thing, so failures shrink well.
"""
