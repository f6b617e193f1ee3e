"""A parent that talks with a child: each answer of the child is read again, and each once."""

from __future__ import annotations

from typing import Any

from harness import Brief, InboxItem, Scenario, Turn, run
from harness.checks.children import child_result
from tests.checks.histories import codes
from tests.checks.test_children import SAID, Parent


def test_a_text_that_a_child_says_again_is_read_again() -> None:
    """A parent that talks with a child holds each of its answers."""

    def talk(doubled: bool) -> list[str]:
        def agent(brief: Brief) -> None:
            parent = Parent(brief, lambda text, failed: text)
            own = parent.client.with_options(
                base_url=f"{brief.base_url}/s/child",
                default_headers={"x-harness-parent": "main"},
            )
            said = list[Any]()
            for message in brief.inbox():
                parent.history.append({"role": "user", "content": message.text})
                parent.loop(parent.client, parent.history, 1)
                for _ in range(1 if doubled else 2):
                    said.append({"role": "user", "content": "Go on."})
                    text = parent.loop(own, said, 1)[0]
                    parent.history.append({"role": "user", "content": text * (1 + doubled)})
                    end = parent.loop(parent.client, parent.history, 1)[0]
                brief.send(end)

        inbox = (InboxItem(text="Compare the ponds."),)
        script = (Turn(say="I see."), Turn(say=SAID)) * 4
        played = run(Scenario(name="pond", policy="open", inbox=inbox, script=script), agent)
        return codes(child_result(played.history))

    assert talk(doubled=False) == []
    assert talk(doubled=True) == ["child_result.doubled"]
