"""The provider record: what the rest of the harness must know of a provider.

Hosts, header names and paths stand only here, so that a new provider is one new folder. A record is
data: it imports no SDK and no codec.
"""

from __future__ import annotations

import re
from functools import cached_property

import msgspec

from harness.providers.shared.addresses import Address, shape, with_fields

CLONE = "lenient"
"""The dialect of a host that is not the provider's own. Every provider has it."""


class Sdk(msgspec.Struct, frozen=True):
    """The official Python package; a transport constructs its clients.

    `base_path` is what the SDK's own base URL has behind the host. The environment variables of
    the SDK begin with `variables`: `PREFIX_API_KEY` and `PREFIX_BASE_URL`. `url_variable` is the
    name of the second one where it differs.
    """

    package: str
    client: str
    async_client: str
    variables: str
    base_path: str = ""
    url_variable: str = ""

    @property
    def base_url_name(self) -> str:
        """The variable that names the base URL."""
        return self.url_variable or f"{self.variables}_BASE_URL"

    @property
    def key_name(self) -> str:
        """The variable that holds the key."""
        return f"{self.variables}_API_KEY"


class HeaderNames(msgspec.Struct, frozen=True):
    """Names of headers, in small letters.

    `request_id` names an answer, `rate_limits` begins the names of all rate limit headers and
    `requests_left` is one of them. `identifying` headers of a request tell whose API it is for;
    those in `kept` say which API is asked for, and histories and recordings keep them.
    """

    request_id: str
    rate_limits: str
    requests_left: str
    identifying: frozenset[str] = frozenset()
    kept: tuple[str, ...] = ()


class PictureLimits(msgspec.Struct, frozen=True):
    """The largest picture of a request: its base64 in bytes, its longer edge in pixels.

    The edge is `edge_max`, and `edge_max_of_many` in a request with more than `many` pictures.
    """

    bytes_max: int
    edge_max: int
    edge_max_of_many: int
    many: int


class Dialects(msgspec.Struct, frozen=True):
    """The dialects of a provider: its API at a time, or a gateway that is stricter or laxer.

    `generated` are those that a generated scenario draws from, "" for the default. A refusal in
    one of `untold` says neither the size of the prompt nor that of the window.
    """

    names: tuple[str, ...]
    default: str
    generated: tuple[str, ...] = ("",)
    untold: frozenset[str] = frozenset()


class ProviderRecord(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is known of a provider beside its formats.

    `url` is the home of the API and `path` the endpoint that a model answers at. `path_end` ends
    every path at which the API is spoken, a gateway's too. `addresses` are those of other hosts,
    and those that say something in place of the body; the first one that fits counts. `hosts` are
    patterns for hosts beside the API's own, each with the dialect that is spoken there, "" for the
    default; any other host is a clone.
    `stop_words` pairs the core's stop reasons with the provider's: the first pair of a word counts,
    and a reason without a pair is the same word in both. `usage_names` are the provider's names for
    `input_tokens` and `output_tokens`, where they differ. `messages_field` is the field of a
    request that lists its messages. `keep_alive` is what the
    provider sends while it has nothing to say. `models` are names that the provider offers today.
    With `server_tools` it runs tools of its own, and a turn may pause for one.
    """

    name: str
    url: str
    path: str
    path_end: str
    addresses: tuple[Address, ...] = ()
    hosts: tuple[tuple[str, str], ...] = ()
    sdk: Sdk
    headers: HeaderNames
    dialects: Dialects
    messages_field: str = "messages"
    stop_words: tuple[tuple[str, str], ...] = ()
    usage_names: dict[str, str] = {}
    keep_alive: bytes = b": keep-alive\n\n"
    pictures: PictureLimits | None = None
    models: tuple[str, ...] = ()
    server_tools: bool = False

    @property
    def host(self) -> str:
        """The host of the API."""
        return self.url.partition("://")[2]

    @property
    def paths(self) -> tuple[str, ...]:
        """Patterns for the paths of recorded calls."""
        rows = (row for row in self.addresses if row.operation != "count")
        return (re.escape(self.path_end) + "$", *(shape(row.path).pattern for row in rows))

    @property
    def live_paths(self) -> tuple[str, ...]:
        """The paths at which a live call is answered; `{model}` in one stands for any segment."""
        rows = (row for row in self.addresses if row.live and row.operation == "reply")
        return tuple(dict.fromkeys((self.path, *(row.path for row in rows))))

    def address_of(self, path: str, query: str = "") -> Address | None:
        """The row that a path fits; None for the API's own path, and for one of no row."""
        if path == self.path:
            return None
        rows = (row for row in self.addresses if row.fields(path, query) is not None)
        return next(rows, None)

    def is_spoken_at(self, path: str) -> bool:
        """Whether a path ends as those at which the API can be played."""
        if path.endswith(self.path_end):
            return True
        fitting = (row for row in self.addresses if shape(row.path).search(path))
        return getattr(next(fitting, None), "operation", "") == "reply"

    def complete_body(self, path: str, query: str, body: bytes) -> bytes:
        """The body of a request with the fields that its address says."""
        row = self.address_of(path, query)
        said = row.fields(path, query) if row else None
        return with_fields(body, said) if said else body

    def dialect_at(self, host: str) -> str:
        """The dialect that a host speaks: a clone is known to refuse only what it cannot read."""
        pairs = ((rf"^{re.escape(self.host)}$", ""), *self.hosts)
        return next((d for pattern, d in pairs if re.search(pattern, host)), CLONE)

    def written_stop(self, reason: str) -> str:
        """The provider's word for a stop reason of the core."""
        return self._written.get(reason, reason)

    def read_stop(self, word: str) -> str:
        """The core's stop reason for a word of the provider."""
        return self._read.get(word, word)

    @cached_property
    def _written(self) -> dict[str, str]:
        return dict(reversed(self.stop_words))

    @cached_property
    def _read(self) -> dict[str, str]:
        return {theirs: ours for ours, theirs in reversed(self.stop_words)}
