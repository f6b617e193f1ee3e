"""Code in a reply keeps its lines, also where the rest is written otherwise."""

from __future__ import annotations

import pytest

from harness.checks.reply_content import reply_carried
from tests.checks.histories import Story, codes

CODE = "So:\n```py\nif ready:\n    bake()\nelse:\n    wait()\n```\nThat is all of it."
FLUSH = CODE.replace("    ", "")


def _rules(said: str, *sent: str) -> list[str]:
    """The rules that a reply in these messages breaks."""
    story = Story().turn("How do I bake?").reply(said)
    for text in sent[:-1]:
        story.say(text, "partial")
    found = codes(reply_carried(story.final(sent[-1]).end()))
    return [code.removeprefix("reply_carried.") for code in found]


@pytest.mark.parametrize(
    ("said", "sent", "rules"),
    [
        (CODE, " ".join(CODE.split()), ["code"]),
        (CODE, FLUSH, ["code"]),
        (CODE, f"Bot: {FLUSH}", ["code"]),
        (CODE, CODE, []),
        (CODE, CODE.replace("    ", "\t"), []),
        (CODE, CODE.replace("```py\n", "").replace("```\n", ""), []),
        (CODE, f"<p>So:</p><pre>{FLUSH[9:-20]}</pre> That is all of it.", []),
        (CODE, CODE.replace("\n", "\r\n"), []),
        (CODE, "> " + CODE.replace("\n", "\n> "), []),
        (FLUSH, FLUSH, []),
        ("Two\nlines, and no code at all.", "Two lines, and no code at all.", []),
    ],
)
def test_code_keeps_its_lines(said: str, sent: str, rules: list[str]) -> None:
    assert _rules(said, sent) == rules
    assert _rules(said, sent[:17], sent[17:]) in ([], rules)
