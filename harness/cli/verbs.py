"""The verbs, each a file that is loaded on use and has a click command named `command`.

Their help lines are listed here, so that `harness --help` loads none of them.
"""

from __future__ import annotations

import importlib
from typing import Any

import click

VERBS = {
    "init": "Write a first test into a project, and play it.",
    "run": "Play scenarios against an agent and judge its behaviour.",
    "doctor": "Probe an agent, and write its profile.",
    "serve": "Serve a scenario to an agent started by hand, and judge it when it is stopped.",
    "record": "Record an agent's calls to the real model as a cassette.",
    "judge": "Judge recordings: runs of the harness, and transcripts of other programs.",
    "import": "Make a scenario of a recorded incident.",
    "fuzz": "Play generated scenarios against an agent; shrink what is found.",
    "sweep": "Play every fault at every call of scenarios; certify it.",
    "shrink": "Reduce a failing scenario to what its finding needs.",
    "why": "Say which answer decided that an agent fails, and show the proof.",
    "secrets": "Tell which secrets cassettes and logs hold, without showing one.",
    "fork": "Play a run with another answer at one call.",
    "diff": "Compare two targets, or two folders of histories, run by run.",
    "show": "Print the timeline of one run.",
    "export": "Write runs as OpenTelemetry spans, for Inspect AI, or as a picture.",
    "list": "List scenarios, faults, checks, targets, formats, stores, examples or docs.",
    "copy": "Copy a bundled scenario or example into your folder.",
    "explain": "Explain a code, a part, a rule, a setting or a key.",
    "config": "Show each value that a command uses, and where it comes from.",
    "schema": "Print the JSON Schema of a kind of file, for editors.",
    "model": "Serve scripted models to tests in another language, such as TypeScript.",
    "mcp": "Offer verbs to a coding agent as tools, over MCP.",
}


class Verbs(click.Group):
    """A group whose commands are imported by name, one module each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, in the order in which a user meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"harness.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb; for an unknown one the error names the nearest."""
        from harness.core.values.errors import nearest

        if args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"no verb {args[0]!r}; {nearest(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the list of verbs, from the table only."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def _version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"loop-harness {version('loop-harness')}")
        context.exit()


_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


@click.group(cls=Verbs, context_settings=_SETTINGS, invoke_without_command=True)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              help="Print the version.")  # fmt: skip
@click.pass_context
def harness(context: click.Context) -> None:
    """Replay and fault-injection tests for LLM agent loops.

    Exit status: 0 passes, 1 a finding, 2 an input that cannot be used, 3 unknown, 130 Ctrl-C.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
