"""Values that are new with each run are known as a whole, and by nothing in the middle of prose."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.comparison.message_shapes import stable
from harness.core.values.machine_names import SCRATCH_PREFIX
from harness.core.values.messages import canonical
from harness.files.owner import KEPT_PREFIX, scratch_folder

NEW_WITH_EACH_RUN = {
    "2b0c9f1e-7d0a-4a53-8a61-0f6f6f1f2a10": "<uuid>",
    "2026-05-01T10:00:00Z": "<time>",
    "2026-05-01 10:00:00.123+02:00": "<time>",
    "http://127.0.0.1:38211/v1/messages?beta=true": "http://<loopback>/v1/messages?beta=true",
    "ws://localhost:8080": "ws://<loopback>",
    "http://[::1]:9/x": "http://<loopback>/x",
    f"/tmp/{SCRATCH_PREFIX}.own-1-2-3-abc/home/notes.txt": "<scratch>/home/notes.txt",
}
COUNTS = (
    "2026-05-01", "20260501", "a 2026-05-01T10:00:00Z", "http://example.org:8080/x", "/tmp/notes",
    "see http://127.0.0.1:38211/", "http://[", "2b0c9f1e", f"{SCRATCH_PREFIX}x", "", "10:00",
    "ZZZZZZZZ-7d0a-4a53-8a61-0f6f6f1f2a10",
)  # fmt: skip

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(COUNTS),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
)


@pytest.mark.parametrize("text", NEW_WITH_EACH_RUN)
def test_a_text_that_is_new_with_each_run(text: str) -> None:
    assert stable({"deep": [1, text]}) == {"deep": [1, NEW_WITH_EACH_RUN[text]]}


@pytest.mark.parametrize("text", COUNTS)
def test_a_text_that_counts(text: str) -> None:
    assert stable([text]) == [text]


@pytest.mark.parametrize("text", NEW_WITH_EACH_RUN)
def test_what_the_model_asked_for_stays(text: str) -> None:
    asked = {"deep": [text, {"at": text}]}
    assert stable(asked, asked) == asked
    other = {"deep": [text, {"at": text}], "more": text}
    assert stable(other, asked) == {**asked, "more": NEW_WITH_EACH_RUN[text]}


@given(VALUES)
@settings(max_examples=30)
def test_a_value_is_settled_once(value: object) -> None:
    assert canonical(stable(stable(value))) == canonical(stable(value))
    assert stable(value, value) == value


def test_the_folders_of_a_run_are_known() -> None:
    assert KEPT_PREFIX.startswith(SCRATCH_PREFIX)
    with scratch_folder() as one, scratch_folder() as other:
        assert one != other
        assert one.name.startswith(SCRATCH_PREFIX)
        assert stable(str(one / "x")) == stable(str(other / "x")) == "<scratch>/x"
