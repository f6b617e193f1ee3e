"""Cassettes: recorded calls to a model, kept in anybody's format, played back strictly.

`record` hears them through vcrpy, `recorder` writes them: `kept` says what (`redact`, by `shapes`),
`timing` when, and `scan` looks once more. `read` reads them, whoever wrote them
(`foreign`, or the `compact` form of ours), `key` and `index` find the exchange that answers a
request, `replay` is the Script, `mismatch` says why no exchange answers, `scenario` makes a run of
a recording alone, and `convert` writes one format from another.
"""
