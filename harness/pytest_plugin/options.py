"""The options `--harness-*` and the ini keys `harness_*` of the plugin."""

from __future__ import annotations

import pytest

from harness.pytest_plugin.play_settings import CLASSES

MARKER_HELP = (
    "harness(*, target, profile, wire, stream, world, options, store, seed, fail_on): how `play` "
    "and `fake_model` play in this test, class or module"
)


def add(parser: pytest.Parser) -> None:
    """Register all options and ini keys."""
    group = parser.getgroup("harness", "loop-harness: scenarios for LLM agents")
    _of_agents(group)
    _of_runs(group)
    _ini(parser)


def _of_agents(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--harness-target", metavar="SPEC", help="The agent of tests that name none: my_app:agent."
    )
    group.addoption(
        "--harness-profile",
        metavar="NAME|FILE",
        help="The profile of the agents: a configured name, or a file.",
    )
    group.addoption("--harness-wire", metavar="WIRE", help="Play on this wire: openai-chat, ….")
    group.addoption(
        "--harness-stream", choices=("true", "false"), help="Play streamed or not streamed runs."
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
    group.addoption("--harness-html", metavar="FILE", help="Write all runs as one HTML page.")
    group.addoption(
        "--harness-record",
        choices=("none", "once", "all"),
        default="none",
        help="Record cassettes from the real model: none, the missing ones, or all.",
    )
    group.addoption(
        "--harness-no-config",
        action="store_true",
        help="Read no [tool.harness] of the root folder, and load no installed plug-in.",
    )
    group.addoption(
        "--harness-fail-on",
        choices=CLASSES,
        help="The least class of finding that fails a run.",
    )


def _ini(parser: pytest.Parser) -> None:
    parser.addini("harness_fail_on", help="The class if no option names one.")
    parser.addini("harness_profile", help="The profile if no option names one.")
    parser.addini("harness_target", help="The agent if no option names one.")
    parser.addini(
        "harness_scenarios",
        type="args",
        default=[],
        help="Scenario files to collect: patterns and folders, from the root folder.",
    )
    parser.addini("harness_wire", help="The wire if no option names one.")
    parser.addini("harness_stream", help="true or false, if no option is given.")
    parser.addini(
        "harness_vcr",
        default="false",
        help="true: play vcrpy cassettes strictly; a changed or missing request fails.",
    )
    parser.addini(
        "harness_plugins",
        type="args",
        default=[],
        help="Modules with faults, checks, formats or store readers of your own.",
    )


def mark(config: pytest.Config) -> None:
    """Register the marker, for --strict-markers and --markers."""
    config.addinivalue_line("markers", MARKER_HELP)
