"""What an environment is made from: the one struct that every tool and every bridge shares.

Its fields are the keys. A key that is added here is in every bridge at once, for they are derived
from the fields (`settings`); there is no second list that could forget it.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from harness.core.values.messages import Json

Name: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[!-~]+$")]
"""Printable ASCII without spaces, so that it can be the value of a variable as it stands."""

Share: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=4096)]
Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]


class EnvironmentSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A container, in full.

    `cap_drop` are kernel capabilities, `security_options`, `mounts` (`SOURCE:TARGET[:ro]`) and
    `extra_args` are handed to the backend as they stand, `cpus` is a number of cores, `memory_mib`
    and `disk_mib` are in MiB, `pids` is how many processes there may be.
    """

    image: Name = "debian:stable-slim"
    env: dict[str, str] = {}
    network: Name = "none"
    cap_drop: tuple[str, ...] = ("ALL",)
    security_options: tuple[str, ...] = ("no-new-privileges",)
    mounts: tuple[str, ...] = ()
    extra_args: tuple[str, ...] = ()
    cpus: Share = 1.0
    memory_mib: Positive = 4096
    disk_mib: Positive = 16384
    pids: Positive = 256

    def plain(self) -> dict[str, Json]:
        """All keys with values as JSON has them."""
        values = msgspec.to_builtins(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
