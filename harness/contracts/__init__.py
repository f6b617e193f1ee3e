"""The laws that parts keep, as tests: ours keep them, and a plug-in's can be held to them.

    from harness.contracts import check_check, check_fault
    import my_parts

    def test_slow_disk() -> None:
        check_fault(my_parts.slow_disk)

Each function draws examples with Hypothesis, by the profile that is in force, and raises
AssertionError with one plain sentence for a law that is broken.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.contracts.check_contract import check_check as check_check
    from harness.contracts.fault_contract import check_fault as check_fault
    from harness.contracts.format_contract import check_format as check_format
    from harness.contracts.store_contract import check_store as check_store

_HOMES = {
    "check_check": "harness.contracts.check_contract",
    "check_fault": "harness.contracts.fault_contract",
    "check_format": "harness.contracts.format_contract",
    "check_store": "harness.contracts.store_contract",
}

__all__ = ["check_check", "check_fault", "check_format", "check_store"]


def __getattr__(name: str) -> object:
    """Import a public name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
