// The data in the page: inflated when it is asked for, and read in the terms of the views.

/** What stands in the page under this id, as JSON; null where nothing does. */
async function unpack(id) {
  const held = $(id);
  if (!held) return null;
  const bytes = Uint8Array.from(atob(held.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** The runs with what the views ask again and again: an id for the address, a text to search. */
function prepared(index) {
  const seen = new Map();
  index.runs.forEach((run, place) => {
    const again = (seen.get(run.name) || 0) + 1;
    seen.set(run.name, again);
    run.place = place;
    run.id = encodeURIComponent(again > 1 ? `${run.name}~${again}` : run.name);
    for (const list of ["findings", "known", "doubts", "passed", "not_applicable", "seen", "notes"]) {
      run[list] ||= [];
    }
    const said = run.findings.map((f) => `${f.code} ${f.message}`);
    run.text = [run.name, run.scenario, run.title, run.folder, ...said].join(" ").toLowerCase();
    run.missing = new Map(run.not_applicable);
  });
  index.byId = new Map(index.runs.map((run) => [run.id, run]));
  index.runs = index.runs.slice().sort((a, b) =>
    (a.folder || "").localeCompare(b.folder || "") || a.name.localeCompare(b.name));
  return index;
}

/** The history of a run: events by number, calls and answers by key, what belongs together. */
async function historyOf(run) {
  const found = await unpack(`run-${run.place}`);
  if (!found) return null;
  const of = { ...found, byN: new Map(), calls: new Map(), answers: new Map(), marks: new Map() };
  of.events.forEach((event, place) => {
    event.place = place;
    event.at_ms ||= 0;
    of.byN.set(event.n, event);
    if (event.event === "called") of.calls.set(event.key, event);
    if (event.event === "answered") of.answers.set(event.key, event);
  });
  for (const finding of [...run.findings, ...run.known]) {
    for (const n of finding.events || []) {
      const event = nearest(of, n);
      if (event) of.marks.set(event.n, [...(of.marks.get(event.n) || []), finding]);
    }
  }
  return of;
}

/** The event of this number, or the next one that has a row. */
function nearest(history, n) {
  return history.byN.get(n) || history.events.find((event) => event.n >= n) || history.events.at(-1);
}

/** Whether an answer is a failure, as its lane shows it. */
const isBad = (e) => Boolean(e && ((e.status || 0) >= 400 || e.error || e.complete === false
  || (e.outcome && e.outcome !== "ok") || e.value?.is_error));

/** The messages of a model call by their places: each request names only what is new. */
function messagesOf(history, call) {
  const parts = [];
  let limit = Infinity;
  for (let at = call; at && limit > 0; at = history.calls.get(at.request.after)) {
    const keep = at.request.after ? at.request.keep || 0 : 0;
    parts.unshift(...(at.request.messages || []).slice(0, Math.max(0, limit - keep)));
    limit = Math.min(limit, keep);
    if (!at.request.after) break;
  }
  return parts;
}

/** The request before this one in its session that had the same purpose. */
function requestBefore(history, call) {
  for (let place = call.place - 1; place >= 0; place -= 1) {
    const event = history.events[place];
    const same = event.event === "called" && event.request?.type === "model";
    if (same && event.session === call.session && event.purpose === call.purpose) return event;
  }
  return history.calls.get(call.request.after) || null;
}

/** The causes of some runs: findings that follow from no other, by code and cause, the heaviest first. */
function causesOf(runs) {
  const groups = new Map();
  for (const run of runs) {
    for (const finding of run.findings.filter((f) => !f.follows)) {
      const group = groups.get(finding.cause) || { finding, runs: new Set(), example: run };
      group.runs.add(run);
      if (run.name.length < group.example.name.length) Object.assign(group, { finding, example: run });
      groups.set(finding.cause, group);
    }
  }
  return [...groups.values()].sort((a, b) =>
    order(a) - order(b) || weight(b) - weight(a) || severity(a.finding) - severity(b.finding));
}

const weight = (group) => group.runs.size * group.finding.weight;

/** What fails stands first, and of that the ends of the target. */
function order(group) {
  return (group.finding.fails ? 0 : 2) + (isEnd(group.finding) ? 0 : 1);
}

const CLASSES = ["defect", "weakness", "advice"];
const isEnd = (finding) => finding.check === "target" || finding.code === "run.nothing_intercepted";
const isBookKeeping = (finding) => !finding.class;
const kind = (finding) => finding.class || "run";
const tone = (finding) => `c-${finding.fails ? kind(finding) : "below"}`;

/** The place of a finding among others: failing ones, the end of the target, then the classes. */
function severity(finding) {
  const place = isEnd(finding) ? 0 : isBookKeeping(finding) ? 4 : CLASSES.indexOf(finding.class) + 1;
  return place + (finding.fails ? 0 : 10);
}
