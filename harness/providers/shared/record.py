"""The provider record: what the rest of the harness must know of a provider.

Hosts, header names, paths and the words of refusals for size stand only here, so that a new
provider is one new folder. A record is data, `record.toml`: it imports no SDK and no codec.

An address is what a path and a query say in place of a request's body. Most APIs have one address,
and all fields stand in the body. Some name the model in the path, or have their own path for
streams. Then the address completes the body, so that readers and rules find each field in one
place. A host that offers another provider's models has addresses of its own. Of two rows that fit,
the first one counts.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import Literal
from urllib.parse import parse_qsl, unquote

import msgspec

from harness.core.transition.ports import WireHeaders
from harness.core.values.messages import Json
from harness.core.values.table_file import package_text, pairs

_NAME = re.compile(r"\\{(\w+)\\}")


class Address(msgspec.Struct, frozen=True):
    """A kind of address at which an API is spoken.

    `path` is the end of the path; `{model}` stands for one segment of it, and is a field by that
    name. Any other `{name}` is a segment that says nothing. `query` are parameters that the query
    must have. `says` are more fields of the body that the address stands for.

    `host` names the platform whose address it is, "" for the provider's own and for gateways.
    A `live` call may come there; every other address is known in recordings alone. `operation` is
    what is asked: a `reply`, a `count` of tokens, or a reply in a form that is only `read`.
    """

    path: str
    query: tuple[tuple[str, str], ...] = ()
    says: dict[str, Json] = {}
    host: str = ""
    live: bool = False
    operation: Literal["reply", "count", "read"] = "reply"

    def fields(self, path: str, query: str) -> dict[str, Json] | None:
        """The fields that an address of this kind says, None for any other address."""
        found = shape(self.path).search(path)
        if found is None or not set(self.query) <= set(parse_qsl(query)):
            return None
        named = found.groupdict().get("model")
        return {**self.says, **({"model": unquote(named)} if named else {})}


def read_record(package: str) -> ProviderRecord:
    """The record in a provider's package, `record.toml`."""
    said = msgspec.toml.decode(package_text(package, "record.toml"))
    keep_alive = said.pop("keep_alive", ": keep-alive\n\n").encode()
    read = msgspec.convert(said, ProviderRecord)
    return msgspec.structs.replace(read, keep_alive=keep_alive)


@cache
def shape(path: str) -> re.Pattern[str]:
    """The pattern of paths that end like this one; `{name}` is one segment, or its beginning."""
    escaped = re.escape(path)
    return re.compile(_NAME.sub(r"(?P<\1>[^/]+)", escaped) + "$")


def with_fields(body: bytes, fields: dict[str, Json]) -> bytes:
    """A JSON object with these fields at its end, where they win; any other body unchanged."""
    text = body.rstrip()
    if not fields or not text.endswith(b"}") or not text.lstrip().startswith(b"{"):
        return body
    before = text[:-1].rstrip()
    comma = b"" if before.lstrip() == b"{" else b","
    return before + comma + msgspec.json.encode(fields)[1:]


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


_PASSING = frozenset(pairs(__package__, "passing_headers.tsv"))


class HeaderNames(WireHeaders, frozen=True, kw_only=True):
    """Names of headers, in small letters; `WireHeaders` says what the first ones mean.

    `request_id` names an answer, `rate_limits` begins the names of all rate limit headers and
    `requests_left` is one of them. `identifying` headers of a request tell whose API it is for;
    those in `kept` say which API is asked for, and histories and recordings keep them.

    The defaults are those of SDKs that Stainless generates, as Anthropic's and OpenAI's are. Others
    come from hosts and tracers between an SDK and an API.
    """

    helper: str = "x-stainless-helper"
    retry_count: str = "x-stainless-retry-count"
    passing: frozenset[str] = _PASSING
    passing_starts: tuple[str, ...] = ("x-b3-", "x-datadog-", "x-stainless-")
    signed_starts: tuple[str, ...] = ("AWS4-",)
    wait_ms: str = "retry-after-ms"
    final: tuple[tuple[str, str], ...] = (("x-should-retry", "false"),)
    request_id: str
    rate_limits: str
    requests_left: str
    identifying: frozenset[str] = frozenset()


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
    With `server_tools` it runs tools of its own, and a turn may pause for one. `size_codes` are the
    codes and types of a refusal for size, and `size_messages` begin what a wrapper writes in place
    of an answer; clones and gateways of one provider say those of another. `hollow` and
    `hollow_events` are a whole answer with null content, plain and as a stream; "MODEL" in them
    stands for the model.
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
    keep_alive: bytes = b""
    pictures: PictureLimits | None = None
    models: tuple[str, ...] = ()
    server_tools: bool = False
    size_codes: frozenset[str] = frozenset({"context_length_exceeded", "request_too_large"})
    size_messages: tuple[str, ...] = ("prompt is too long", "input is too long")
    hollow: str
    hollow_events: tuple[str, ...]

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

    def read_usage(self, value: Json) -> dict[str, Json]:
        """The usage of an answer under the core's names too, empty for what is not an object."""
        if not isinstance(value, dict):
            return {}
        names = self.usage_names.items()
        return value | {ours: value[theirs] for ours, theirs in names if theirs in value}

    def written_usage(
        self, counted: dict[str, Json], told: dict[str, Json]
    ) -> tuple[dict[str, Json], int]:
        """The usage of an answer, and the total of its first two counts.

        What is `told` under the core's names replaces what is `counted` under the provider's.
        """
        usage = counted | {self.usage_names.get(name, name): n for name, n in told.items()}
        prompt, reply = (usage[name] for name in [*counted][:2])
        return usage, sum(count for count in (prompt, reply) if isinstance(count, int))

    def hollow_answer(self, model: str, stream: bool) -> tuple[bytes, ...]:
        """A whole answer of a model, with null content, which only a fault makes a provider say."""
        named = msgspec.json.encode(model)
        said = self.hollow_events if stream else (self.hollow,)
        return tuple(text.encode().replace(b'"MODEL"', named) for text in said)

    @cached_property
    def _written(self) -> dict[str, str]:
        return dict(reversed(self.stop_words))

    @cached_property
    def _read(self) -> dict[str, str]:
        return {theirs: ours for ours, theirs in reversed(self.stop_words)}
