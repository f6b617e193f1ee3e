"""The options `--harness-*` and the ini keys `harness_*` of the plugin."""

from __future__ import annotations

import pytest

from harness.pytest_plugin.play_settings import CLASSES

MARKER_HELP = (
    "harness(*, target, profile, wire, stream, world, options, store, seed, fail_on): how `play` "
    "and `fake_model` play in this test, class or module"
)


def add(parser: pytest.Parser) -> None:
    """Tell pytest of all options and ini keys."""
    group = parser.getgroup("harness", "loop-harness: scenarios for LLM agents")
    _of_agents(group)
    _of_runs(group)
    _ini(parser)


def _of_agents(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--harness-target", metavar="SPEC", help="The agent where a test names none: my_app:agent."
    )
    group.addoption(
        "--harness-profile",
        metavar="NAME|FILE",
        help="What the agents are: a configured profile, or a file.",
    )
    group.addoption("--harness-wire", metavar="WIRE", help="Play on this wire: openai-chat, ….")
    group.addoption(
        "--harness-stream", choices=("true", "false"), help="Play streamed, or not streamed."
    )
    group.addoption(
        "--harness-isolate",
        action="store_true",
        help="Call each Python agent in a forked child, which it may end by any means.",
    )


def _of_runs(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--harness-scenarios",
        action="append",
        default=[],
        metavar="PATTERN",
        help="Collect these scenario files too: a pattern or a folder, from the root folder.",
    )
    group.addoption("--harness-seed", type=int, metavar="N", help="In place of each scenario's.")
    group.addoption("--harness-out", metavar="DIR", help="Keep the history of each run below DIR.")
    group.addoption(
        "--harness-html", metavar="FILE", help="Write one HTML file in which all runs can be read."
    )
    group.addoption(
        "--harness-record",
        choices=("none", "once", "all"),
        default="none",
        help="Which cassettes to record from the real model: none, those that are not there, all.",
    )
    group.addoption(
        "--harness-no-config",
        action="store_true",
        help="Read no [tool.harness] of the root folder, and load no installed plug-in.",
    )
    group.addoption(
        "--harness-fail-on",
        choices=CLASSES,
        help="From which class on a finding fails a run.",
    )


def _ini(parser: pytest.Parser) -> None:
    parser.addini("harness_fail_on", help="The class where no option names one.")
    parser.addini("harness_profile", help="The profile where no option names one.")
    parser.addini("harness_target", help="The agent where no option names one.")
    parser.addini(
        "harness_scenarios",
        type="args",
        default=[],
        help="Scenario files to collect: patterns and folders, from the root folder.",
    )
    parser.addini("harness_wire", help="The wire where no option names one.")
    parser.addini("harness_stream", help="true or false where no option says it.")
    parser.addini(
        "harness_vcr",
        default="false",
        help="true: play the cassettes of vcrpy strictly: what is changed or not asked for fails.",
    )
    parser.addini(
        "harness_plugins",
        type="args",
        default=[],
        help="Modules with faults, checks, formats or store readers of your own.",
    )


def mark(config: pytest.Config) -> None:
    """Tell pytest of the marker, for --strict-markers and --markers."""
    config.addinivalue_line("markers", MARKER_HELP)
