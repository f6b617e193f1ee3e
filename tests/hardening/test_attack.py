"""A sample of the attack, and what makes it fail."""

from __future__ import annotations

import socket
import threading

import pytest

from tests.hardening import attack
from tests.hardening.attack import ATTACKS, Failed
from tests.transports.every_server import SERVERS


@pytest.mark.parametrize("name", SERVERS)
def test_no_attack_has_an_effect(name: str) -> None:
    row = attack.attacked(name, garbage_count=40, connection_count=20, large=False, seed=7)
    assert row.startswith(f"| {name} | 47 | 40 | 20 |")


def test_the_attacks_are_47_and_each_has_a_name() -> None:
    assert len({row.name for row in ATTACKS}) == len(ATTACKS) == 47


def test_a_traceback_is_found() -> None:
    with pytest.raises(Failed, match="a thread of a server ended: ZeroDivisionError"):  # noqa: SIM117, PT012
        with attack.no_traceback():
            thread = threading.Thread(target=lambda: 1 / 0)
            thread.start()
            thread.join()


def test_a_wrong_answer_is_found() -> None:
    wrong = ATTACKS[0]._replace(statuses=frozenset({200}))
    with SERVERS["model"]() as server, pytest.raises(Failed, match="400, not"):
        attack.raw(server, wrong)


def test_silence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack, "ANSWER_S", 0.2)
    listener = socket.create_server(("127.0.0.1", 0))
    with listener, SERVERS["model"]() as server, pytest.raises(Failed, match="no answer in"):
        attack.raw(server._replace(port=listener.getsockname()[1]), ATTACKS[0])
