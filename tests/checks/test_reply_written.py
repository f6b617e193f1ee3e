"""Words that a reply runs together, and the numbers of its lists."""

from __future__ import annotations

import json

import pytest

from harness.checks.reply_content import reply_carried
from tests.checks.histories import Story


def _found(said: str, read: str) -> list[str]:
    story = Story().turn("How do I bake?").reply(said).final(read)
    told = [finding.message for finding in reply_carried(story.end())]
    assert all(message.startswith(TURN) for message in told)
    return [message.removeprefix(TURN) for message in told]


TURN = "turn 1 of main: "


def test_words_that_are_run_together_are_told_as_such() -> None:
    said = "Take the flour and the water, e\u0301clairs too, and wait for an hour."
    found = _found(said, said.replace("and the water", "andthewater"))
    assert found == ["the user reads the answer with some of its words run together"]


NUMBERED = (
    "Steps 3 and 5 are yours:\n\n3. Mix the flour.\n5. Bake it.\n\nThen:\n\n1. Eat.\n1. Sleep."
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NUMBERED.replace("3. M", "1. M").replace("5. B", "2. B"), "1. for 3. of a list"),
        (NUMBERED.replace("5. B", "4. B").replace("1. S", "2. S"), ""),  # as CommonMark does
        (NUMBERED.replace("3. ", "").replace("5. ", "").replace("1. ", ""), ""),
        (NUMBERED.replace(". ", ") "), ""),
    ],
)
def test_a_list_begins_with_the_number_of_the_answer(text: str, words: str) -> None:
    told = [f"the user reads another number in the answer: {words}"] if words else []
    assert _found(NUMBERED, text) == told


SILENCE = "It says\nNO_REPLY\nwhere a bot may be silent. The word NO_REPLY is no answer."


@pytest.mark.parametrize(
    ("read", "is_cut"),
    [
        (SILENCE, False),
        (SILENCE.replace("NO_REPLY\n", ""), False),
        (SILENCE.replace("word NO_REPLY", "word"), True),
        (SILENCE.replace("NO_REPLY", ""), True),
    ],
)
def test_a_word_for_silence_inside_a_line_is_for_the_user(read: str, is_cut: bool) -> None:
    found = _found(SILENCE, read)
    assert (len(found) == 1 and "lacks or changes its middle" in found[0]) if is_cut else not found


def test_an_item_that_stands_in_two_lists_has_either_number() -> None:
    said = "First:\n\n1. Wait.\n2. Bake.\n\nThen:\n\n3. Wait.\n4. Eat."
    assert _found(said, said) == []


BLOCK = "Bake it for an hour.\nThen eat it."


@pytest.mark.parametrize(
    ("read", "begun"),
    [
        (f"[TextBlock(citations=None, text={BLOCK!r}, type='text')]", "TextBlock("),
        (f"AIMessage(content={BLOCK!r}, additional_kwargs={{}})", "AIMessage("),
        (json.dumps([{"type": "text", "text": BLOCK}]), "type"),
        (str([{"type": "output_text", "text": BLOCK}]), "type"),
        (json.dumps({"reply": json.dumps({"type": "text", "text": BLOCK})}), "{"),
    ],
)
def test_an_answer_within_an_object_of_the_program_is_named(read: str, begun: str) -> None:
    (found,) = _found(BLOCK, read)
    assert found.startswith("the user reads the answer within an object of the")
    assert begun in found


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ('Call `TextBlock(text="x")` for it.', 'Call `TextBlock(text="x")` for it.'),
        ('Send [{"type": "text", "text": "x"}].', 'Send [{"type": "text", "text": "x"}].'),
        (BLOCK, f"Assistant (content: text): {BLOCK}"),
        (BLOCK, json.dumps({"reply": BLOCK})),
    ],
)
def test_an_answer_may_speak_of_objects(said: str, read: str) -> None:
    assert not _found(said, read)
