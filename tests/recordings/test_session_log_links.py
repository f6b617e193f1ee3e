"""Links between entries: every path ends, with any links."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.recordings.session_log import circular_entries, path_to

_PARENTS = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["", *"abcdefghxy"]))


def test_a_path_goes_from_the_root_to_its_end() -> None:
    parents = {"a": "", "b": "a", "c": "b", "d": "b"}
    assert path_to("d", parents) == ["a", "b", "d"]
    assert path_to("x", parents) == []
    assert path_to("b", {"b": "gone"}) == ["b"]


def test_a_circle_ends_where_it_comes_back() -> None:
    parents = {"a": "c", "b": "a", "c": "b", "d": "c", "e": "e"}
    assert path_to("d", parents) == ["a", "b", "c", "d"]
    assert list(circular_entries(parents)) == ["a", "e"]
    assert list(circular_entries({"a": "", "b": "a"})) == []


@given(_PARENTS)
def test_any_links_end(parents: dict[str, str]) -> None:
    circles = list(circular_entries(parents))
    for name in parents:
        path = path_to(name, parents)
        assert path[-1] == name
        assert len(set(path)) == len(path)
        came_back = parents[path[0]] in parents
        assert not came_back or parents[path[0]] in path
    assert bool(circles) == any(parents[path_to(n, parents)[0]] in parents for n in parents)
