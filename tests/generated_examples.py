"""The examples of rules: of the cases that the tests of each provider prove, the small ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness import providers
from harness.providers.anthropic.request import AnthropicReader
from tests.providers.anthropic import cases as anthropic
from tests.providers.gemini import cases as gemini
from tests.providers.openai_chat import cases as openai_chat
from tests.providers.openai_responses import cases as openai_responses

ROOT = Path(__file__).parents[1]
LONGEST = 480
"""The longest example in bytes: a larger one says no more than its rule."""


def example_files() -> Iterator[tuple[Path, str]]:
    """The file of each provider, and its text."""
    for name, cases in _CASES.items():
        rules = providers.rules(name)
        rows = [f"{rule}\t{body.decode()}" for rule, body in cases.items() if _is_small(body)]
        assert {row.partition("\t")[0] for row in rows} <= set(rules)
        package = name.replace("-", "_")
        path = ROOT / "harness" / "providers" / package / "examples.tsv"
        yield path, "\n".join(["rule\trequest", *rows, ""])


def _is_small(body: bytes) -> bool:
    return len(body) <= LONGEST and body.isascii() and b"\t" not in body and b"\n" not in body


def _anthropic() -> dict[str, bytes]:
    said = {rule: case[0] for rule, case in anthropic.BROKEN.items() if rule != "V3"}
    reader = AnthropicReader("strict", None)
    return {rule: s if isinstance(s, bytes) else s(reader) for rule, s in said.items()}


_CASES: dict[str, dict[str, bytes]] = {
    "anthropic": _anthropic(),
    "openai-chat": {rule: case[0] for rule, case in openai_chat.CASES.items()},
    "openai-responses": {rule: case[0][-1] for rule, case in openai_responses.CASES.items()},
    "gemini": {rule: case.bad for rule, case in gemini.CASES.items()},
}


def main() -> None:
    """Write the files."""
    for path, text in example_files():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
