// One run: verdict, findings, lanes, the list of events and the one that is chosen; then the page.

const PROOFS_MAX = 12;

/** The address of a run, or of an event in it: what stands behind `#`. */
const addressOf = (run, n) => `#/run/${run.id}${n ? `/${n}` : ""}`;

async function runView(index, run, go) {
  const history = await historyOf(run);
  const others = index.runs.filter((r) => r.verdict === "fail");
  const step = (by) => { const at = others.indexOf(run); if (others.length) go(others[(at + by + others.length) % others.length]); };
  const node = [
    h("nav.crumbs", {}, index.runs.length > 1 && [h("a", { href: index.home || "#/" }, "All runs"), " / "], h("span", {}, run.name)),
    h("h1", {}, h(`span.verdict.${run.verdict}`, {}, `${MARKS[run.verdict]} ${WORDS[run.verdict]}`), " ", run.name),
    run.title && h("p.lead", {}, run.title),
    runFacts(run), findingsOf(index, run),
  ];
  const keys = { "[": () => step(-1), "]": () => step(1), Escape: () => { location.hash = index.home || "#/"; },
    c: async () => announce((await copied(run.repeat || run.history)) ? "Copied" : "Nothing was copied") };
  if (!history) {
    node.push(h("p.empty", {}, `This page has no room for the events of this run${run.history ? `: they are in ${run.history}` : ""}.`));
    return { node, keys, lists: () => [], show() {}, jump() {} };
  }
  return { ...eventView(run, history, node, keys), history };
}

function eventView(run, history, node, keys) {
  const detail = h("section.detail", { tabIndex: 0, "aria-label": "The chosen event" }, h("p.empty", {}, "Choose an event: click, or press j and k."));
  const lanes = laneView(history, (place) => list.select(place, true));
  const list = virtualList({ rows: history.events, height: 26, label: "Events", draw: (event) => eventRow(history, event), choose });
  function choose(place, byHand = true) {
    const event = history.events[place];
    fill(detail, eventDetail(history, event));
    detail.scrollTop = 0;
    lanes.select(place);
    if (byHand) window.history.replaceState(null, "", addressOf(run, event.n));
    announce(`event ${event.n}: ${event.line}`);
  }
  const proofs = [...history.marks.keys()].map((n) => history.byN.get(n).place).sort((a, b) => a - b);
  const scaleButton = h("button.quiet", { type: "button" }, "Scale by time");
  scaleButton.onclick = () => { scaleButton.textContent = lanes.swap() ? "Scale by events" : "Scale by time"; };
  const lost = h("p.lost", { role: "status" });
  node.push(lost, h("section", {}, h("h2", {}, "Lanes ", h("small", {}, `${count(history.events.length, "event")} over ${seconds(history.events.at(-1)?.at_ms)}`), scaleButton), lanes.box),
    h("section.events", {}, h("div", {}, h("h2", {}, "Events"), list.box), detail));
  const move = (by) => () => list.select(list.at + by, true);
  const proof = (by) => () => {
    const next = by > 0 ? proofs.find((place) => place > list.at) : proofs.findLast((place) => place < list.at);
    if (next !== undefined) list.select(next, true);
  };
  Object.assign(keys, { j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1), n: proof(1), p: proof(-1), Enter: () => detail.focus() });
  return { node, keys, lists: () => [list], show() { lanes.layout(); list.refresh(); }, lanes,
    jump(n, quiet) {
      const event = n ? nearest(history, n) : history.events[proofs[0] ?? 0];
      if (!event) return;
      fill(lost, n && !history.byN.has(n) ? `No event #${n} is in this list; #${event.n} is the nearest.` : "");
      list.select(event.place, false);
      if (n && !quiet) list.box.scrollIntoView({ block: "nearest" });
    } };
}

function eventRow(history, event) {
  const found = history.marks.get(event.n), answer = event.event === "answered" ? event : null;
  const [, words = event.line] = /^\w+\s+(.*)$/s.exec(event.line) || [];
  const first = found && [...found].sort((a, b) => severity(a) - severity(b))[0];
  return h(`div.row${isBad(answer) ? ".bad" : ""}${first ? `.proves.${tone(first)}` : ""}`,
    { role: "option", title: event.line, "aria-label": `event ${event.n}: ${event.line}` },
    h("span.n", {}, `#${event.n}`), h("span.at", {}, seconds(event.at_ms)), h(`span.chip.lane-${event.lane}`, {}, event.lane),
    h("span.words", {}, words), event.faults && h("span.fault", { title: event.faults.join(", ") }, "fault"));
}

function runFacts(run) {
  return h("div.runfacts", {}, facts({ target: run.target, world: run.world, wire: run.wire && `${run.wire}${run.stream ? ", streamed" : ""}`, seed: run.seed || "0", outcome: run.outcome, kept: run.kept }),
    run.repeat && [h("h2.small", {}, "Repeat this run"), copyable(run.repeat, "the command that repeats this run")],
    run.history && copyable(`harness show ${/^[\w./@+-]+$/.test(run.history) ? run.history : `'${run.history.replaceAll("'", `'\\''`)}'`}`, "the command that shows the timeline"),
    run.seen.map((said) => h("p.seen", {}, `Would repeat ${said}`)),
    run.notes.map((said) => h("p", {}, said)));
}

/** The place of a public report in a source, such as `openai/codex#12`. */
const REPORT = /\b([\w.-]+\/[\w.-]+)#(\d+)\b/g;

/** A source as text; what stands on GitHub is a link, which the page itself never follows. */
function sourceNodes(source) {
  const made = [];
  let from = 0;
  for (const found of source.matchAll(REPORT)) {
    const [whole, repository, number] = found;
    made.push(source.slice(from, found.index), h("a", { href: `https://github.com/${repository}/issues/${number}`, rel: "noreferrer" }, whole));
    from = found.index + whole.length;
  }
  return [...made, source.slice(from)];
}

/** What to change for a finding, why, and who reported it. */
function adviceOf(index, code) {
  const { step, keys, reason, source } = index.advice[code] || {};
  return [step && h("p.step", {}, h("small", {}, "what to do: "), step),
    keys?.length > 0 && h("p.reason", {}, h("small", {}, "if it is meant so, in the profile: "), keys.map((key) => [h("code", {}, key), " "])),
    reason && h("p.reason", {}, h("small", {}, "why: "), reason),
    source && h("p.source", {}, h("small", {}, "source: "), sourceNodes(source))];
}

function findingsOf(index, run) {
  const first = new Map([...run.findings, ...run.known].filter((f) => !f.follows).reverse().map((f) => [f.code, f]));
  const proofs = (f) => f.events?.length > 0 && h("span.proofs", {}, h("small", {}, "proved by "),
    f.events.slice(0, PROOFS_MAX).map((n) => h("a", { href: addressOf(run, n) }, `#${n}`)),
    f.events.length > PROOFS_MAX && h("small", {}, `and ${f.events.length - PROOFS_MAX} more`));
  const one = (f) => h(`li.finding.${tone(f)}${f.follows ? ".follows" : ""}`, {},
    h("header", {}, h("code", {}, f.code), f.follows ? h("small", {}, "follows") : badge(f), proofs(f)),
    h("p", {}, f.message), first.get(f.code) === f && adviceOf(index, f.code));
  const { passed, known, doubts, traceback } = run, missing = [...run.missing];
  return h("section", {}, h("h2", {}, "Findings ", h("small", {}, count(run.findings.length, "finding"))),
    run.findings.length ? h("ol.findings", {}, run.findings.map(one)) : h("p.empty", {}, "No finding."),
    doubts.map((doubt) => h("p.doubt", {}, `Doubt: ${doubt}`)),
    known.length > 0 && fold(`${count(known.length, "known finding")}`, () => h("ol.findings", {}, known.map(one))),
    traceback && fold("Traceback", () => h("pre.text", {}, traceback)),
    passed.length > 0 && fold(`${count(passed.length, "check")} passed`, () => h("p.words", {}, passed.map((check) => h("code", {}, check)))),
    missing.length > 0 && fold(`${missing.length} not applicable`, () => facts(Object.fromEntries(missing))));
}
