"""A second model of the semantics of scripts: a list of what is left to play, in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.past import Past
from harness.core.scenario.scenario import Turn
from harness.core.scenario.script import TurnScript, count
from harness.core.values.draws import Draws
from tests.core import world
from tests.core.script_play import call, due, played


class Model:
    def __init__(self, turns: list[Turn]) -> None:
        self.lanes: dict[str, list[tuple[int, Turn, int]]] = {}
        for index, turn in enumerate(turns):
            self.lanes.setdefault(turn.purpose, []).append((index, turn, 0))

    def due(self, purpose: str, offered: bool) -> int | None:
        left = self.lanes.get(purpose, [])
        holds = [turn.when is None or not offered for _, turn, _ in left]
        while left:
            place = next((i for i, ok in enumerate(holds) if ok), None)
            if place is None:
                return None
            if left[place][2]:
                for later in range(place + 1, len(left)):
                    if left[later][1].when is None:
                        break
                    if holds[later]:
                        return left[later][0]
            return left[place][0]
        return None

    def consume(self, purpose: str, index: int) -> None:
        left = self.lanes[purpose]
        place = next(i for i, (number, _, _) in enumerate(left) if number == index)
        number, turn, plays = left[place]
        over = plays + 1 >= count(turn.times)
        self.lanes[purpose] = (
            left[place + 1 :] if over else [(number, turn, plays + 1), *left[place + 1 :]]
        )


turns = st.lists(
    st.builds(
        Turn,
        say=st.just("x"),
        times=st.sampled_from([1, 1, 2, 3, "forever"]),
        when=st.sampled_from([None, None, "ended"]),
        purpose=st.sampled_from(["main", "main", "compact"]),
        optional=st.booleans(),
    ),
    max_size=6,
)
outcomes = st.lists(
    st.tuples(st.sampled_from(["main", "main", "compact"]), st.booleans(), st.booleans()),
    max_size=30,
)


@given(turns, outcomes)
def test_a_script_is_a_list_of_which_a_turn_goes_when_its_value_left_whole(
    given_turns: list[Turn], asked: list[tuple[str, bool, bool]]
) -> None:
    model, script, past = Model(given_turns), TurnScript(given_turns, Draws(1)), Past()
    for purpose, offered, whole in asked:
        found = due(script, past, call(purpose, tools=offered))
        assert found == model.due(purpose, offered)
        if found is not None and whole:
            model.consume(purpose, found)
            played(past, found, f"model:{purpose}")
    owed = [
        t for i, t in enumerate(given_turns) if not (t.when or t.optional or past.plays["model", i])
    ]
    assert len(list(script.unplayed(past))) == len(owed)


@given(turns, outcomes)
def test_the_transition_consumes_what_the_model_consumes(
    given_turns: list[Turn], asked: list[tuple[str, bool, bool]]
) -> None:
    """The same through the real seam: `whole` is False where the client gives up before the end."""
    model = Model(given_turns)
    run = world.run(
        *(given_turns or [Turn(say="x", purpose="aux")]),
        fault={"kind": "transport.latency", "wait_s": 5, "often": "forever", "must_fire": False},
    )
    for purpose, offered, whole in asked:
        expected = model.due(purpose, offered)
        world.ask(
            run,
            tools=offered,
            headers={"x-harness-purpose": purpose},
            timeout_ms=None if whole else 1000,
        )
        answered = world.answers(run)[-1]
        assert answered.script_turn == (expected if whole else None)
        assert (answered.error == "script.exhausted") == (expected is None)
        if expected is not None and whole:
            model.consume(purpose, expected)
