"""The laws of parts, as tests: our parts keep them, and a plug-in can be tested against them.

    from harness.contracts import check_check, check_fault
    import my_parts

    def test_slow_disk() -> None:
        check_fault(my_parts.slow_disk)

Each function draws examples with Hypothesis, by the active profile. For a broken law, it raises
AssertionError with one plain sentence.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.contracts.check_contract import check_check as check_check
    from harness.contracts.fault_contract import check_fault as check_fault
    from harness.contracts.format_contract import check_format as check_format
    from harness.contracts.report_contract import check_report as check_report
    from harness.contracts.store_contract import check_store as check_store
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
