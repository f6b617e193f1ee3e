from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.draws import Draws

names = st.lists(st.text(max_size=4), min_size=1, max_size=3)


@given(st.integers(), names)
def test_the_same_names_draw_the_same(seed: int, named: list[str]) -> None:
    one, other = Draws(seed), Draws(seed)
    one.random("something", "else").random()
    assert one.random(*named).random() == other.random(*named).random()
    assert one.identifier("msg_", *named) == other.identifier("msg_", *named)


def test_a_seed_means_the_same_on_every_machine() -> None:
    assert Draws(7).identifier("toolu_", "main/model#1", "0") == "toolu_01My4swdZp44PaJnEUtFkRPG"
    assert Draws(7).random("fault", "http.status", "main/model#1").randrange(10**9) == 956377076


def test_each_name_and_seed_has_draws_of_its_own() -> None:
    found = {
        Draws(seed).random(*named).random()
        for seed in range(5)
        for named in (("a",), ("b",), ("a", "b"), ("ab",), ("a", "", "b"))
    }
    assert len(found) == 25


def test_ids_look_like_the_providers_and_are_many() -> None:
    ids = {Draws(1).identifier("toolu_", str(n)) for n in range(1000)}
    assert len(ids) == 1000
    assert all(
        name.startswith("toolu_01") and len(name) == 30 and name[6:].isalnum() for name in ids
    )
