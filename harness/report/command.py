"""The command that repeats a run: every failure prints one that can be pasted into a shell."""

from __future__ import annotations

import shlex

import msgspec


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was asked for, as the user said it.

    `world` is empty when it followed from the target, `store` when the agent uses the brief's,
    `faults` without an overlay. `plugin_flags` are the words by which plug-ins were loaded.
    """

    path: str
    target: str
    world: str = ""
    store: str = ""
    faults: str = ""
    plugin_flags: tuple[str, ...] = ()


def repeat(asked: Invocation, name: str, seed: int) -> str:
    """The shell command for exactly one run of a scenario file.

    >>> repeat(Invocation(path="a b.yaml", target="reference"), "a/x+stream", 7)
    "harness run 'a b.yaml' --only a/x+stream --target reference --seed 7"
    """
    words = ["harness", "run", asked.path, "--only", name, "--target", asked.target]
    words += ["--seed", str(seed)]
    words += ["--world", asked.world] if asked.world else []
    words += ["--store", asked.store] if asked.store else []
    words += ["--faults", asked.faults] if asked.faults else []
    words += asked.plugin_flags
    return shlex.join(words)
