"""Options that several verbs share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from harness.cli.completion import catalogue_names, completing, items, profiles, targets
from harness.core.values.errors import InputError
from harness.core.values.strict import SECONDS_MOST
from harness.core.values.verdict import CLASSES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from harness.configuration import Configuration
    from harness.core.values.profile import Profile
    from harness.engines import Engine

EngineName = Literal["local", "ray"]
World = Literal["simulate", "supervise"]

RUNS = ".harness/runs"
"""The folder for the histories of runs."""

COMMANDLINE = click.core.ParameterSource.COMMANDLINE

_F = TypeVar("_F", bound=Callable[..., Any])


class WireChoice(click.Choice[str]):
    """The name of a provider; the names are imported only when they are needed."""

    def __init__(self, *, every: bool = False) -> None:
        self.case_sensitive, self._every = True, every

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the providers; with `every` also the word for all of them."""
        from harness import providers
        from harness.core.scenario.scenario import EVERY_WIRE

        return (*providers.names(), *[EVERY_WIRE][: self._every])


class NamedPath(click.Path):
    """A path of the user, or a bundled name: `@loops/circles`."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the named path. Raises InputError for an unknown name."""
        from harness.files.bundle import named_path

        return super().convert(named_path(value) if isinstance(value, str) else value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete bundled names after `@`, else files."""
        if not incomplete.startswith("@"):
            return super().shell_complete(ctx, param, incomplete)
        return items(catalogue_names(incomplete), incomplete)


def every_verb(function: _F) -> _F:
    """Add `--json` and `--debug`, which every verb has; `main` reads `--debug` by itself."""
    debug = click.option(
        "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
    )
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="Print JSON Lines on standard output."
    )
    return as_json(debug(function))


def refuse_given(why: str, parameters: Collection[str]) -> None:
    """Raise InputError for one of these parameters on the command line.

    A setting that a form of the verb leaves out in silence looks as if it had been obeyed.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in parameters and context.get_parameter_source(name) == COMMANDLINE:
            flag = parameter.opts[-1]
            raise InputError(why, flag if flag.startswith("-") else parameter.make_metavar(context))


_FLAGS, _CONFIGURATION = "harness.plugin_flags", "harness.configuration"
_REAL_S = "harness.real_s"


def plugins(function: _F) -> _F:
    """Add `--plugin MODULE` and `--no-config`, for a verb that starts an agent.

    The plug-ins, those of the configuration too, are loaded before the verb begins; they are not
    arguments of the verb.
    """
    return _with_plugins(function, reads=False)


def named_plugins(function: _F) -> _F:
    """Add the same options, for a verb that only reads files.

    A command that is typed to look at a folder runs no code of it. So the plug-ins of the
    configuration are loaded only where the user has said that the folder is his.
    """
    return _with_plugins(function, reads=True)


def _with_plugins(function: _F, *, reads: bool) -> _F:
    @wraps(function)
    def with_plugins(*args: Any, plugin: tuple[str, ...], no_config: bool, **named: Any) -> Any:
        from harness.cli.terminal import standard_output_is_ours
        from harness.plugins import configured

        # A plug-in, like a target, is code of the user.
        click.get_current_context().with_resource(standard_output_is_ours())
        words = [word for module in plugin for word in ("--plugin", module)]
        flags = (*words, *(["--no-config"] if no_config else []))
        click.get_current_context().meta[_FLAGS] = flags
        if named.get("trust") is not None:  # to withdraw a trust must run no code that it allows
            return function(*args, **named)
        own = not reads or _trusts()
        found = configured(plugin, config=not no_config, own=own)
        if not own:
            _tell_left_out(found, plugin)
        click.get_current_context().meta[_CONFIGURATION] = found
        return function(*args, **named)

    no_config = click.option(
        "--no-config", is_flag=True, help="Read no configuration, and load no installed plug-in."
    )
    plugin = click.option(
        "--plugin",
        multiple=True,
        metavar="MODULE",
        help="A module with faults, checks, formats or store readers of your own.",
    )
    return cast(_F, plugin(no_config(with_plugins)))


def _trusts() -> bool:
    from harness.files.trusted_folders import is_trusted

    return is_trusted(Path.cwd())


def _tell_left_out(found: Configuration, named: tuple[str, ...]) -> None:
    """Tell which configured plug-ins are not loaded, and how they would be."""
    left = [module for module in found.plugins if module not in named]
    if left:
        from harness.cli import terminal

        flags = " ".join(f"--plugin {module}" for module in left)
        terminal.note(
            f"not loaded: {', '.join(left)}, which the configuration of this folder names; "
            f"{flags} loads it, and `harness config --trust` says that the folder is yours"
        )


def plugin_flags() -> tuple[str, ...]:
    """Return the flags for plug-ins and limits, for a command that repeats this one."""
    context = click.get_current_context(silent=True)
    flags: tuple[str, ...] = context.meta.get(_FLAGS, ()) if context else ()
    limit = context.meta.get(_REAL_S) if context else None
    return flags if limit is None else (*flags, "--real-s", f"{limit:g}")


PROFILE_VARIABLE = "HARNESS_PROFILE"
"""The environment variable that names a profile if no flag does."""


@click.pass_context
def given_flags(context: click.Context) -> dict[str, Any]:
    """Return the values of `--plugin` and `--real-s`, by the keys that they override."""
    words = context.meta.get(_FLAGS, ())
    modules = [word for flag, word in pairwise(words) if flag == "--plugin"]
    return {"plugins": modules or None, "limits.real_s": context.meta.get(_REAL_S)}


profile = click.option("--profile", "profile_name", default="", metavar="NAME|FILE",
                       envvar=PROFILE_VARIABLE, shell_complete=completing(profiles),
                       help="The profile of the agent: a configured name, or a file.")  # fmt: skip
"""`--profile NAME|FILE`, for a verb with `plugins`; `chosen_profile` reads it."""


def configuration() -> Configuration:
    """Return the configuration of this command; the defaults with `--no-config`."""
    found: Configuration = click.get_current_context().meta[_CONFIGURATION]
    return found


def files_from() -> tuple[str, ...]:
    """Return the configured folders, beside its own, in which a scenario may name files."""
    return found.files_from if (found := _known()) else ()


def catalogue() -> tuple[str, ...]:
    """Return the configured scenarios for a command that names none."""
    return found.catalogue if (found := _known()) else ()


def _known() -> Configuration | None:
    """Return the configuration of this command, if it has one."""
    context = click.get_current_context(silent=True)
    return context.meta.get(_CONFIGURATION) if context else None


def _real_s(context: click.Context, option: click.Parameter, given: float | None) -> None:
    context.meta[_REAL_S] = given


REAL_SECONDS = click.FloatRange(min=0, max=SECONDS_MOST, min_open=True)

real_s = click.option("--real-s", type=REAL_SECONDS, metavar="S",
                      expose_value=False, callback=_real_s,
                      help="Overrides limits.real_s of the profile and the scenario.",
                      )  # fmt: skip
"""`--real-s S`, for a verb with `profile`; `chosen_profile` applies it."""


def chosen_profile(named: str) -> Profile:
    """Return the profile of `--profile`, else the configured one, with the limit of `--real-s`.

    Raises InputError for a profile that cannot be used.
    """
    found = configuration().chosen_profile(named, Path.cwd())
    given = click.get_current_context().meta.get(_REAL_S)
    if given is None:
        return found
    import msgspec

    limits = msgspec.structs.replace(found.limits, real_s=given)
    return msgspec.structs.replace(found, limits=limits)


jobs = click.option("-j", "--jobs", type=click.IntRange(1, 4096), metavar="N",
                    show_default="one per core for enough work; two per CPU of a cluster",
                    help="Use N processes; the order of the output stays the same.")  # fmt: skip
"""`-j N`: how many processes work at once."""

TASKS_A_WORKER = 8
"""The number of tasks that is worth the start of a process."""

engine = click.option("--engine", type=click.Choice(["local", "ray"]), default="local",
                      show_default=True,
                      help="Local processes, or a running Ray cluster (extra `ray`).")  # fmt: skip
"""`--engine`: where the tasks run."""

fail_on = click.option("--fail-on", type=click.Choice(CLASSES),
                       help="The least class that fails a run.  [default: as the scenario "
                       "or the profile says, else weakness]")  # fmt: skip
"""`--fail-on CLASS`: overrides the class in scenarios and profiles."""

target = click.option("--target", default="", shell_complete=completing(targets), metavar="SPEC",
                      help="The agent: reference, pkg.mod:callable, process:COMMAND or "
                      "http://HOST/PATH.")  # fmt: skip
"""`--target SPEC`: the agent; a profile names one, too."""

store = click.option("--store", default="", metavar="READER:PATH",
                     help="How to read the agent's session store, such as sqlite:sessions.db.",
                     )  # fmt: skip
"""`--store READER:PATH`: overrides the store of the profile."""

only = click.option("--only", multiple=True, metavar="PATTERN",
                    help="Only runs whose name NAME[/VARIANT][@WIRE][+stream] matches (* and ?).",
                    )  # fmt: skip
"""`--only PATTERN`, once or more: the runs of a file that are selected."""

minutes = click.option("--minutes", type=click.FloatRange(0, min_open=True), metavar="M",
                       help="Stop after this time, with what is found by then.")  # fmt: skip
"""`--minutes M`: a bound of the time of the command."""

seed = click.option("--seed", type=click.IntRange(0), metavar="N",
                    help="Overrides the scenario's seed.")  # fmt: skip
"""`--seed N`: the seed of a run's random choices, in place of the file's."""

world = click.option("--world", type=click.Choice(["simulate", "supervise"]),
                     help="Default: simulate for Python agents (virtual time), else supervise.",
                     )  # fmt: skip
"""`--world`: virtual time or real time."""


def spoken(help: str, *, every: bool = False) -> Callable[[_F], _F]:
    """Return `--wire NAME`, once or more: the wires whose runs are selected; with `every` also
    `all`."""
    return click.option("--wire", "spoken", multiple=True, type=WireChoice(every=every), help=help)


def recording_format(help: str) -> Callable[[_F], _F]:
    """Return `--format FORMAT`: how recordings are read."""
    text = f"{help}: auto, or one of `harness list formats`."
    return click.option(
        "--format", "kind", default="auto", show_default=True, metavar="FORMAT", help=text
    )


def out_folder(default: str, help: str) -> Callable[[_F], _F]:
    """Return `--out DIR`: where files are written."""
    folder = click.Path(path_type=Path)
    return click.option(
        "--out", type=folder, default=default, show_default=True, metavar="DIR", help=help
    )


def engine_named(engine: EngineName, workers: int | None) -> Engine:
    """Return the chosen engine with this number of workers.

    For None workers it is one local worker, or as many as a cluster can use. A single local worker
    is this process. Raises InputError for a missing cluster.
    """
    if engine == "ray":
        from harness.engines.ray import Ray

        return Ray(workers)
    if workers is None or workers == 1:
        from harness.engines import Serial

        return Serial()
    from harness.engines.local import Local

    return Local(workers)


def target_engine(engine: EngineName, workers: int | None, target: str, tasks: int) -> Engine:
    """Return the engine for this number of runs of a target.

    Python code gets at least one worker process, because it may end its process. A server plays one
    run at a time unless `workers` is higher.
    """
    from harness.targets.spec import resolve

    kind = resolve(target).kind
    if kind == "python":
        return worker_engine(engine, workers, tasks)
    if engine == "local" and workers is None:
        workers = 1 if kind == "http" else _cores_for(tasks)
    return engine_named(engine, workers)


def worker_engine(engine: EngineName, workers: int | None, tasks: int) -> Engine:
    """Return the engine for tasks that may end their process: it never uses this process."""
    if engine == "local":
        from harness.engines.local import Local

        return Local(workers or _cores_for(tasks))
    return engine_named(engine, workers)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cores_for(tasks: int) -> int:
    return min(cores(), -(-tasks // TASKS_A_WORKER)) or 1
