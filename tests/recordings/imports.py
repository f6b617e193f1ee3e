"""What the tests of recordings do in one call: read a cassette's calls, import a file."""

from __future__ import annotations

from harness.cassettes.cassette_file import CassetteExchange, calls, parse_cassette
from harness.cli.scenario_import import ImportRequest, ScenarioImport, imported


def exchanges_in(data: bytes) -> list[CassetteExchange]:
    """The calls to a model of a cassette's bytes."""
    return list(calls(parse_cassette(data)))


def import_file(asked: ImportRequest) -> ScenarioImport:
    """Write the scenario of a recording, and its cassette if it has bytes."""
    made, write = imported(asked)
    write()
    return made
