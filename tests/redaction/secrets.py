"""Strategies for secrets of the known shapes, and for places in which they stand."""

from __future__ import annotations

import string

from hypothesis import strategies as st

_ALNUM = string.ascii_letters + string.digits


def _run(alphabet: str, least: int, most: int = 60) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=most)


def _pem(kind: str, body: str) -> str:
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


TOKENS = st.one_of(
    _run(_ALNUM + "-_", 20).map("sk-ant-api03-{}".format),
    _run(_ALNUM + "-_", 20).map("sk-proj-{}".format),
    _run(_ALNUM, 32).map("sk-{}".format),
    _run(string.ascii_uppercase + string.digits, 16, 16).map("AKIA{}".format),
    _run(_ALNUM, 36, 36).map("ghp_{}".format),
    _run(_ALNUM + "_", 40).map("github_pat_{}".format),
    _run(_ALNUM + "-", 20).map("xoxb-{}".format),
    _run(_ALNUM + "-", 20).map("xoxp-{}".format),
    _run(_ALNUM + "-_", 35, 35).map("AIza{}".format),
    _run(_ALNUM + "-_", 20).map("glpat-{}".format),
    _run(_ALNUM, 30).map("gsk_{}".format),
    _run(_ALNUM, 34).map("hf_{}".format),
    _run(_ALNUM, 36, 36).map("npm_{}".format),
    _run(_ALNUM, 24).map("sk_live_{}".format),
    st.tuples(*[_run(_ALNUM + "-_", 10)] * 3).map(lambda p: f"eyJ{p[0]}.eyJ{p[1]}.{p[2]}"),
)
"""Keys in one word, which may stand in a URL too."""

SECRETS = TOKENS | st.builds(
    _pem, st.sampled_from(["", "RSA ", "EC ", "OPENSSH "]), _run(_ALNUM + "+/=\n", 30, 200)
)
"""What must be in no recording."""

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
"""What may stand around a secret."""

PLAIN = st.text(string.ascii_lowercase + " \n\"'{}[]:,\\é😀", max_size=20)
"""Words that make no part of a key longer."""
