"""The page in a browser: it opens, filters, jumps, obeys keys, prints, and stays what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report.fabricated import RUNS
from tests.report.html.conftest import Open
from tests.report.html.pages import HOSTILE

pytestmark = pytest.mark.real

ROWS = ".matrix .inner .row"
RUN = "#/run/greeting"


ATTRIBUTES = """[...document.querySelectorAll("*")].flatMap(
    (x) => ["title", "aria-label", "id", "name"].map((name) => x.getAttribute(name) || "")
).concat(document.title)"""
"""What a browser or a reader says beside the text."""


def names(page: Any) -> list[str]:
    """What stands in the first column of the matrix."""
    found: list[str] = page.eval_on_selector_all(
        f"{ROWS} .name", "all => all.map(x => x.textContent)"
    )
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize(
    ("name", "address"), [("many", ""), ("one", ""), ("hostile", ""), ("swept", "")]
)
def test_a_page_fits_its_window(
    opened: Open, name: str, address: str, width: int, scheme: str
) -> None:
    page = opened(name, address, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").count() == 1
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, colour[4:-1].split(","))) < 200) == (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["many", "one", "swept"])
def test_a_page_has_contrast_labels_and_headings(opened: Open, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened(name, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()


def test_a_fault_with_a_finding_leads_to_its_run(opened: Open) -> None:
    page = opened("swept")
    cells = page.locator("details .cell")
    assert cells.all_text_contents() == ["·", "✗", "", "3"]
    page.locator("details .cell.c-defect a").click()
    page.wait_for_url("**/swept.html#/run/*")
    page.wait_for_function("name => document.title.includes(name)", arg=RUNS[0].name)


def test_filters_narrow_the_matrix_and_stand_in_the_address(opened: Open) -> None:
    page = opened("many")
    before = len(names(page))
    page.fill("input[name=q]", "polling")
    page.wait_for_url("**/many.html#/?q=polling")
    page.select_option("select[name=wire]", "anthropic")
    assert len(names(page)) < before
    assert all("do-nothing" not in name for name in names(page))
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.input_value("input[name=q]") == "polling"
    page.keyboard.press("Escape")
    assert page.evaluate("location.hash") == "#/"
    assert page.input_value("input[name=q]") == ""
    page.click(".total.unknown")
    assert names(page) == ["?identical-failures/overloaded"]
    page.click(".total.unknown")
    page.click(".cause >> nth=0")
    assert "code=" in page.evaluate("location.hash")


def test_what_is_not_applicable_stands_there_with_its_reason(opened: Open) -> None:
    page = opened("many")
    table = page.locator("table").inner_text()
    assert "needs the seam store" in table


def test_keys_walk_through_the_matrix_into_a_run_and_back(opened: Open) -> None:
    page = opened("many")
    for key in ("j", "j", "k", "ArrowRight", "j", "ArrowRight", "j"):
        page.keyboard.press(key)
    chosen = page.locator(f"{ROWS}[aria-selected=true] .name").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector(".verdict")
    run = page.locator(".crumbs span").inner_text()
    assert run in chosen
    page.keyboard.press("]")
    page.locator(".crumbs span").filter(has_not_text=run).wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector(ROWS)
    assert len(names(page)) > 2, "what was open is open"


def test_slash_question_mark_and_t(opened: Open) -> None:
    page = opened("many")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("j?")
    assert page.input_value("input[name=q]") == "j?"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("dialog[open] h2").inner_text() == "Keys"
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("t")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_proof_jumps_to_its_event_and_its_address_is_a_link(opened: Open) -> None:
    page = opened("one")
    link = page.locator(".finding .proofs a").nth(1)
    n = link.inner_text()
    link.click()
    page.locator(".detail h3", has_text=n).wait_for()
    address = page.evaluate("location.hash")
    assert address == f"{RUN}/{n[1:]}"
    assert n in page.locator(".list .row[aria-selected=true]").inner_text()
    again = opened("one", address)
    assert f"{n} at" in again.locator(".detail h3").inner_text()
    assert again.locator(".lanes .chosen").count() == 1


def test_a_request_is_shown_as_what_is_new_in_it(opened: Open) -> None:
    page = opened("one", f"{RUN}/12")
    detail = page.locator(".detail")
    assert "asks with 3 messages 1 as in main/model#1, 2 new" in detail.inner_text()
    assert page.locator(".detail .message.added").count() == 2
    page.click(".detail summary >> nth=0")
    page.wait_for_selector(".detail details[open] .message")
    assert "I moved to Oslo" in detail.inner_text()


def test_what_goes_and_what_changes_is_marked_word_by_word(opened: Open) -> None:
    page = opened("rewritten", "#/run/a/8")
    detail = page.locator(".detail")
    assert "1 as in main/model#1, 1 new, 2 gone" in detail.inner_text()
    changed = page.locator(".detail .message.changed")
    assert (changed.locator("del").inner_text(), changed.locator("ins").inner_text()) == (
        "rains", "snows",
    )  # fmt: skip
    assert "This goes." in page.locator(".detail .message.gone").inner_text()
    assert "max_tokens" in page.locator(".facts.changed").inner_text()


def test_next_proof_and_next_event(opened: Open) -> None:
    page = opened("one", f"{RUN}/2")
    page.keyboard.press("n")
    assert (
        page.locator(".list .row[aria-selected=true]").get_attribute("class").count("proves") == 1
    )
    page.keyboard.press("k")
    page.keyboard.press("p")
    page.keyboard.press("ArrowDown")
    assert page.locator(".list .row[aria-selected=true]").count() == 1


def test_lanes_show_calls_faults_and_findings(opened: Open) -> None:
    page = opened("one")
    label = page.locator(".lanes svg").get_attribute("aria-label")
    assert "11 model calls, 9 tool calls, 1 fault" in label
    assert page.locator(".lanes .fault").count() == 1
    assert page.locator(".lanes .flag").count() > 2
    page.locator(".lanes .span rect.lane-model").nth(1).click()
    assert "main/model#2" in page.locator(".detail h3").inner_text()
    page.get_by_role("button", name="Scale by time").click()
    assert page.get_by_role("button", name="Scale by events").count() == 1


def test_a_long_history_draws_only_what_is_in_sight(opened: Open) -> None:
    page = opened("long", "#/run/long/6001")
    assert page.locator(".list .row").count() < 80
    assert page.locator(".lanes .span").count() < 600
    assert "#6001" in page.locator(".list .row[aria-selected=true]").inner_text()
    assert page.locator(".detail h4 >> nth=0").inner_text().startswith("asks with 1,200 messages")


@pytest.mark.parametrize("address", ["", "run"])
def test_hostile_text_stays_text(opened: Open, address: str) -> None:
    page = opened("hostile")
    if address:
        page.click(f"{ROWS} .name a >> nth=0")
        page.wait_for_selector(".list .row")
        for _ in range(8):
            page.keyboard.press("j")
            page.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    assert page.evaluate("window.hit") is None
    assert page.locator("img, iframe, main style, main script").count() == 0
    text = page.locator("main").inner_text()
    assert HOSTILE[:40] in text
    assert "\\u202e" in text
    assert "\u202e" not in text
    said = page.evaluate(ATTRIBUTES)
    assert [text for text in said if "\u202e" in text or "\0" in text] == []


def test_paper_shows_every_row(opened: Open) -> None:
    page = opened("one")
    events = int(page.locator("h2 small").nth(1).inner_text().split()[0])
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".list .row").count() == events
    assert not page.locator(".copy >> nth=0").is_visible()
    assert page.locator(".finding >> nth=0").is_visible()
    last, detail = (page.locator(x).last.bounding_box() for x in (".list .row", ".detail"))
    assert last["y"] + last["height"] <= detail["y"], "nothing is printed over the events"
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.pdf()[:5] == b"%PDF-"


def test_the_command_can_be_copied(opened: Open, files: dict[str, Path]) -> None:
    page = opened("one")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: the command that repeats this run").click()
    page.locator(".copy", has_text="Copied").first.wait_for()
    command = page.locator(".copyable code").nth(0).inner_text()
    assert command.startswith("harness run greeting.yaml --only greeting --target ")
    assert page.evaluate("navigator.clipboard.readText()") == command


def test_the_keyboard_sees_where_it_is(opened: Open) -> None:
    page = opened("many")
    for _ in range(6):
        page.keyboard.press("Tab")
        style = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(style) != "none"


def test_an_address_that_is_not_there_is_said(opened: Open) -> None:
    page = opened("many", "#/run/gone%20away")
    assert page.locator(".lost").inner_text() == (
        "This page has no run gone away. All of its runs are below."
    )
    page.click(".total.unknown")
    page.locator(".lost").wait_for(state="hidden")
    near = opened("one", f"{RUN}/99999")
    assert "No event #99999 is in this list" in near.locator(".lost").inner_text()
    assert opened("one", RUN).locator(".lost").inner_text() == ""


def test_a_finding_says_what_to_do_and_who_reported_it(opened: Open) -> None:
    page = opened("one", RUN)
    first = page.locator(".finding").nth(0)
    assert "what to do: " in first.inner_text()
    assert "why: " in first.inner_text()
    assert "source: " in first.inner_text()


def test_null_zero_and_an_empty_text_are_told_apart(opened: Open) -> None:
    answers = [f"{RUN.replace('greeting', 'nulls')}/{n}" for n in (3, 5, 7)]
    said = [opened("nulls", at).locator(".detail section >> nth=-1").inner_text() for at in answers]
    assert [each.splitlines()[-1] for each in said] == ["null", "(empty text)", "0"]
