"""What a secret looks like in a text: known shapes of keys, values that a name gives away, base64.

Issuers prefix keys so that leaks can be found. The name before a key without a prefix reveals it
(AWS's secret half, a password). A run of base64 that contains a secret is a secret as a whole (a
`Basic` header, a Kubernetes secret). Binary data, such as an image, costs only its decoding.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import NamedTuple

_PEM = (
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[A-Za-z0-9+/=\s:,.-]|\\[nrt])*?"
    r"(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"|(?![A-Za-z0-9+/=\s:,.-]|\\[nrt]))"
)

SHAPES: dict[str, tuple[str, str]] = {
    "private key (PEM)": ("-----begin", _PEM),
    "bearer token": ("bearer", r"(?i:(?<=bearer ))[A-Za-z0-9._~+/=-]{16,}"),
    "basic credentials": ("basic", r"(?i:(?<=basic ))(?=[A-Za-z+/]*[0-9=])[A-Za-z0-9+/]{8,}={0,2}"),
    "Anthropic": ("sk-ant-", r"sk-ant-[A-Za-z0-9_-]{8,}"),
    "OpenAI and alike": ("sk-", r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}"),
    "AWS access key id": ("akia asia", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    "GitHub": ("ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    "GitHub, fine-grained": ("github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    "GitLab": ("glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    "Slack": ("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    "Slack webhook": (
        "hooks.slack.com/services/",
        r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}",
    ),
    "Google": ("aiza", r"AIza[A-Za-z0-9_-]{35}"),
    "Google OAuth": ("ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    "Groq": ("gsk_", r"gsk_[A-Za-z0-9]{20,}"),
    "xAI": ("xai-", r"xai-[A-Za-z0-9]{20,}"),
    "Hugging Face": ("hf_", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"),
    "npm": ("npm_", r"npm_[A-Za-z0-9]{36}"),
    "Stripe": ("k_live_ k_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    "loop-harness, a recording": ("lhr_", r"lhr_[0-9a-f]{32}"),
    "SendGrid": ("sg.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    "JSON web token": ("eyj", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    "credentials in a URL": ("://", r"(?<=://)[^\s/:@\"'\\<>\[\]]+:[^\s/@\"'\\<>\[\]]+(?=@[\w.-])"),
}
"""The known shapes of keys, by whose they are: what one has in it, in small letters, and its
pattern. A text without the former is not searched for the latter."""

NAMED = "value of a secret's name"
IN_BASE64 = "secret in base64"

_COMPILED = {name: (hints.split(), re.compile(p)) for name, (hints, p) in SHAPES.items()}
_NAME = (
    r"(?i:secret_?access_?key|client_?secret|api[_-]?key|(?:access|auth|refresh)[_-]?token"
    r"|password|passwd)"
)
_ENDS_IN_NAME = re.compile(_NAME + r"""[\\"']{0,4}\s{0,3}\Z""")
_IS_NAME = re.compile(rf"(?:[\w-]*[_-])?{_NAME}")
_VALUE = r"[A-Za-z0-9/+_.~=-]{16,}"
_SET = re.compile(rf"""[:=]\s{{0,3}}[\\"']{{0,4}}(?P<value>{_VALUE})""")
_IS_VALUE = re.compile(_VALUE)
_NAME_MOST_CHARS = 60
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_TO_STANDARD = str.maketrans("-_", "+/")


class SecretSpan(NamedTuple):
    """Where a secret stands in a text, and what kind it is."""

    start: int
    end: int
    kind: str


def spans(text: str) -> list[SecretSpan]:
    """The secrets of a text in order; those that touch or overlap are one."""
    found: list[SecretSpan] = []
    for span in sorted((*_plain(text), *_wrapped(text))):
        if found and span.start <= found[-1].end:
            before = found.pop()
            span = SecretSpan(before.start, max(before.end, span.end), before.kind)
        found.append(span)
    return found


def is_named(name: str, value: str) -> bool:
    """Whether a name says of its value, the whole of it, that it is a secret."""
    return bool(_IS_NAME.fullmatch(name) and _IS_VALUE.fullmatch(value) and _has_digit(value))


def values_after(text: str, ends_in_name: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The long words (`value`) that are set to a name, which a pattern finds to its end."""
    for match in _SET.finditer(text):
        start = match.start()
        if ends_in_name.search(text, max(0, start - _NAME_MOST_CHARS), start):
            yield match


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _plain(text: str) -> Iterator[SecretSpan]:
    small = text.lower()
    for kind, (hints, shape) in _COMPILED.items():
        if any(hint in small for hint in hints):
            for match in shape.finditer(text):
                yield SecretSpan(*match.span(), kind)
    for match in values_after(text, _ENDS_IN_NAME):
        if _has_digit(match["value"]):
            yield SecretSpan(*match.span("value"), NAMED)


def _wrapped(text: str) -> Iterator[SecretSpan]:
    for match in _BASE64_RUN.finditer(text):
        if any(any(_plain(said)) for said in _readings(match[0])):
            yield SecretSpan(*match.span(), IN_BASE64)


def base64_texts(text: str) -> Iterator[str]:
    """What the runs of base64 in a text say, where they say text."""
    for match in _BASE64_RUN.finditer(text):
        yield from _readings(match[0])


def _readings(run: str) -> Iterator[str]:
    """The texts in a run of base64, whose start within the run is unknown."""
    standard = run.rstrip("=").translate(_TO_STANDARD)
    for start in range(4):
        whole = standard[start : len(standard) - ((len(standard) - start) % 4 == 1)]
        try:
            yield base64.b64decode(whole + "=" * (-len(whole) % 4)).decode()
        except UnicodeDecodeError:
            continue
