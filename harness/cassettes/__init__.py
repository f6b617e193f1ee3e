"""Cassettes: recorded calls to a model, kept in VCR's YAML, played back strictly.

`record` writes them through vcrpy with `redact` in between, `read` reads them (`vcr_yaml` is the
parser), `key` and `index` find the exchange that answers a request, `replay` is the Script, and
`mismatch` says why no exchange answers.
"""
