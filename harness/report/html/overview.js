// The first page over many runs: filters, causes, the matrix, and what could not be asked.

const WORDS = { fail: "failed", unknown: "unknown", pass: "passed", not_applicable: "not applicable" };
const MARKS = { fail: "✗", unknown: "?", pass: "✓", not_applicable: "–" };
const OPEN_MAX = 60, CAUSES_MAX = 12, ALIKE_MAX = 4, ROW = 28;

/** The runs that fit the filters. */
function matching(index, filters) {
  const words = (filters.q || "").toLowerCase().split(/\s+/).filter(Boolean);
  const has = (run, test) => run.findings.some(test);
  return index.runs.filter((run) => (!filters.verdict || run.verdict === filters.verdict)
    && (!filters.wire || run.wire === filters.wire)
    && (!filters.class || has(run, (f) => kind(f) === filters.class))
    && (!filters.code || has(run, (f) => f.code === filters.code || f.check === filters.code))
    && words.every((word) => run.text.includes(word)));
}

/** What a run says of each check: the worst finding, `passed`, or why it was not asked. */
function cellsOf(run) {
  if (run.cells) return run.cells;
  const cells = new Map(run.passed.map((check) => [check, { word: "passed" }]));
  for (const [check, reason] of run.missing) cells.set(check, { word: "absent", reason });
  for (const f of run.known) cells.set(f.check, { word: "known", finding: f });
  for (const f of [...run.findings].sort((a, b) => severity(b) - severity(a))) {
    cells.set(f.check, { word: f.fails ? kind(f) : "below", finding: f });
  }
  run.cells = cells;
  return cells;
}

function overview(index, filters, go) {
  const change = (fields) => go({ ...filters, ...fields });
  const opened = new Set();
  let runs = [], list = null, checks = [], all = false;
  const lost = h("p.lost", { role: "status" });
  const parts = { totals: h("div"), causes: h("section"), matrix: h("section"), lacks: h("section") };
  const bar = filterBar(index, filters, change);
  const scenarios = new Set(index.runs.map((run) => run.scenario));
  const node = [lost, h("h1", {}, index.title), ...index.headline.map((line) => h("p.headline", {}, line)), h("p.lead", {}, `${count(index.runs.length, "run")} of ${count(scenarios.size, "scenario")}`), parts.totals, bar, parts.causes, matrices(index), parts.matrix, parts.lacks, index.reach.length ? h("section", {}, h("h2", {}, "Reached"), index.reach.map((line) => h("p", {}, line))) : ""];

  function update(fields) {
    Object.assign(filters, fields);
    runs = matching(index, filters);
    fill(parts.totals, totals(index, filters, change));
    fill(parts.causes, causes(runs, filters, change));
    drawMatrix();
    fill(parts.lacks, lacking(index, runs));
    announce(`${count(runs.length, "run")} shown`);
  }
  function drawMatrix() {
    checks = columns(runs, all);
    const rows = treeOf(runs, opened);
    const side = h("div.row.head", { role: "row" }, h("span.name", { role: "columnheader" }, "scenario"),
      checks.shown.map((check) => h("span.check", { role: "columnheader" },
        h("button", { type: "button", title: `Only runs in which ${check} finds something`,
          onclick: () => change({ code: filters.code === check ? "" : check }) }, check))));
    list = virtualList({ rows, height: ROW, head: side, role: "treegrid", label: "Scenarios and checks",
      draw: (row) => matrixRow(row, checks.shown, opened, toggle, go), choose: () => {} });
    list.box.classList.add("matrix");
    list.box.style.setProperty("--checks", checks.shown.length);
    const more = checks.silent > 0 && h("button.quiet", { type: "button", onclick: () => { all = !all; drawMatrix(); } },
      all ? "Only checks that found something" : `And ${count(checks.silent, "check")} that found nothing`);
    fill(parts.matrix, h("h2", {}, "Scenarios and checks"), legend(), list.box, more);
    list.refresh();
  }
  function toggle(row, open = !opened.has(row.key)) {
    if (row.run) return;
    if (open) opened.add(row.key); else opened.delete(row.key);
    list.set(treeOf(runs, opened));
  }
  if (scenarios.size <= OPEN_MAX) index.runs.forEach((run) => opened.add(`${run.folder || ""}/`));
  if (index.runs.length <= 25) scenarios.forEach((name) => opened.add(name));
  const keys = {
    j: () => list.select(list.at + 1), k: () => list.select(list.at - 1),
    ArrowDown: () => list.select(list.at + 1), ArrowUp: () => list.select(list.at - 1),
    ArrowRight: () => list.rows[list.at] && toggle(list.rows[list.at], true),
    ArrowLeft: () => list.rows[list.at] && toggle(list.rows[list.at], false),
    Enter: () => { const row = list.rows[list.at]; if (row) row.run ? go(row.run) : toggle(row); },
    "/": () => bar.querySelector("input").focus(),
    Escape: () => change(Object.fromEntries(Object.keys(filters).map((key) => [key, ""]))),
  };
  return { node, keys, update, tellLost: (text) => fill(lost, text), lists: () => [list], show: () => list?.refresh(), filters };
}

function filterBar(index, filters, change) {
  const choice = (name, label, values) => h("label", {}, label,
    h("select", { name, onchange: (e) => change({ [name]: e.target.value }) },
      h("option", { value: "" }, "any"),
      values.map((v) => h("option", { value: v, selected: filters[name] === v }, v))));
  const every = (pick) => [...new Set(index.runs.flatMap(pick))].sort();
  const search = h("input", { type: "search", name: "q", value: filters.q || "", placeholder: "text of a scenario or finding  ( / )",
    oninput: (e) => change({ q: e.target.value }) });
  return h("form.filters", { role: "search", onsubmit: (e) => e.preventDefault() },
    h("label.wide", {}, "search", search),
    choice("class", "class", [...CLASSES, "run"]),
    choice("code", "finding", every((run) => run.findings.flatMap((f) => [f.code, f.check]))),
    choice("wire", "wire", every((run) => run.wire || [])),
    h("button", { type: "reset", onclick: () => change({ q: "", class: "", code: "", wire: "", verdict: "" }) }, "Clear"));
}

function totals(index, filters, change) {
  const counts = Object.keys(WORDS).map((word) => [word, index.runs.filter((r) => r.verdict === word).length]);
  return h("div.totals", { role: "group", "aria-label": "Verdicts" }, counts.map(([word, n]) =>
    h(`button.total.${word}`, { type: "button", disabled: !n, "aria-pressed": String(filters.verdict === word),
      onclick: () => change({ verdict: filters.verdict === word ? "" : word }) },
    h("b", {}, n.toLocaleString("en")), h("span", {}, h("i", { "aria-hidden": "true" }, MARKS[word]), ` ${WORDS[word]}`))));
}

function causes(runs, filters, change) {
  const found = causesOf(runs);
  const most = Math.max(1, ...found.map((group) => group.runs.size));
  const line = ({ finding, runs: shown, example }) => h("li", {},
    h("button.cause", { type: "button", "aria-pressed": String(filters.code === finding.code),
      onclick: () => change({ code: filters.code === finding.code ? "" : finding.code }) },
    h("span.bar", {}, scale(shown.size / most, finding), h("b", {}, shown.size.toLocaleString("en"))),
    h("code", {}, finding.code), badge(finding)),
    h("span.message-line", { title: finding.message }, finding.message),
    h("a", { href: addressOf(example, finding.events?.[0]), title: example.name }, example.name));
  const listed = (groups) => h("ol.causes", {}, groups.map(line));
  const { first, rest } = variety(found);
  return [h("h2", {}, "Causes ", h("small", {}, `in ${count(runs.length, "run")}`)),
    found.length ? listed(first) : h("p.empty", {}, runs.length ? "No finding." : "No run fits the filters."),
    rest.length > 0 && fold(`${rest.length} more`, () => listed(rest))];
}

/** The causes to begin with: a few of each code, so that many crashes hide nothing else. */
function variety(groups) {
  const seen = new Map(), first = [], rest = [];
  for (const group of groups) {
    const { code } = group.finding, before = seen.get(code) || 0;
    seen.set(code, before + 1);
    (before < ALIKE_MAX && first.length < CAUSES_MAX ? first : rest).push(group);
  }
  return { first, rest };
}

const scale = (part, finding) => h("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
  h(`rect.${tone(finding)}`, { width: Math.max(2, 100 * part), height: 4 }));

const badge = (finding) => h(`span.badge.${tone(finding)}`, {},
  finding.fails ? kind(finding) : `${kind(finding)}, not failing`);

/** The checks that find something, most often first; the others at the end, if they are wanted. */
function columns(runs, all) {
  const tally = new Map();
  for (const run of runs) {
    for (const [check, cell] of cellsOf(run)) {
      if (check !== "run" || cell.finding) tally.set(check, (tally.get(check) || 0) + (cell.finding ? 1 : 0));
    }
  }
  const sorted = [...tally].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const loud = sorted.filter(([, n]) => n);
  return { shown: (all || !loud.length ? sorted : loud).map(([check]) => check), silent: loud.length ? sorted.length - loud.length : 0 };
}

/** The rows in sight: folders, in them scenarios, in them runs, as far as they are open. */
function treeOf(runs, opened) {
  const rows = [], folders = grouped(runs, (r) => r.folder || "");
  for (const [folder, inside] of folders) {
    const named = folders.size > 1 && folder;
    if (named) rows.push({ key: `${folder}/`, label: folder, runs: inside, depth: 0 });
    if (named && !opened.has(`${folder}/`)) continue;
    for (const [scenario, its] of grouped(inside, (r) => r.scenario)) {
      const depth = named ? 1 : 0;
      if (its.length === 1) { rows.push({ key: its[0].id, label: its[0].name, runs: its, run: its[0], depth }); continue; }
      rows.push({ key: scenario, label: scenario, runs: its, depth });
      if (!opened.has(scenario)) continue;
      for (const run of its) rows.push({ key: run.id, label: run.name, runs: [run], run, depth: depth + 1 });
    }
  }
  return rows;
}

function grouped(items, key) {
  const groups = new Map(items.map((item) => [key(item), []]));
  for (const item of items) groups.get(key(item)).push(item);
  return groups;
}

function matrixRow(row, checks, opened, toggle, go) {
  const word = Object.keys(WORDS).find((w) => row.runs.some((run) => run.verdict === w));
  const mark = h(`i.mark.${word}`, { title: WORDS[word], role: "img", "aria-label": WORDS[word] }, MARKS[word]);
  const label = row.run ? h("a", { href: addressOf(row.run), title: row.label, tabIndex: -1 }, row.label)
    : h("button", { type: "button", tabIndex: -1, title: row.label, onclick: (e) => { e.preventDefault(); toggle(row); } },
      `${opened.has(row.key) ? "▾" : "▸"} ${row.label} `, h("small", {}, row.runs.length));
  const made = h(`div.row.depth-${row.depth}`, { role: "row", "aria-level": row.depth + 1 },
    h("span.name", { role: "rowheader" }, mark, label), checks.map((check) => matrixCell(row, check)));
  if (!row.run) made.setAttribute("aria-expanded", String(opened.has(row.key)));
  return made;
}

function matrixCell(row, check) {
  const cells = row.runs.map((run) => cellsOf(run).get(check)).filter(Boolean);
  const found = cells.filter((cell) => cell.finding);
  if (!found.length) {
    const passed = cells.filter((cell) => cell.word === "passed").length;
    const why = passed ? `${check}: passed in ${passed} of ${count(row.runs.length, "run")}`
      : `${check}: ${cells[0]?.reason || "not asked"}`;
    return h(`span.cell.${passed ? "passed" : "absent"}`, { role: "gridcell", title: why }, passed ? "·" : "");
  }
  const worst = found.reduce((a, b) => (severity(b.finding) < severity(a.finding) ? b : a));
  const said = found.length > 1 || !row.run ? String(found.length) : "✗";
  const title = row.run ? `${worst.finding.code}: ${worst.finding.message}`
    : `${check} finds something in ${found.length} of ${count(row.runs.length, "run")}`;
  const inside = row.run ? h("a", { href: addressOf(row.run, worst.finding.events?.[0]), tabIndex: -1, "aria-label": title }, said) : said;
  return h(`span.cell.c-${worst.word}${worst.finding.follows ? ".follows" : ""}`, { role: "gridcell", title }, inside);
}

const legend = () => h("p.legend", {},
  [...CLASSES, "run", "below", "known"].map((word) => h("span", {}, h(`i.swatch.c-${word}`, { "aria-hidden": "true" }),
    { run: "of the run itself", below: "not failing", known: "known" }[word] || word)),
  h("span", {}, "· passed"), h("span", {}, "blank: not asked, or not applicable"));

/** What was not applicable: whole runs by what they lack, and single checks by their reason. */
function lacking(index, runs) {
  const tally = new Map();
  for (const run of runs) {
    for (const [check, reason] of run.missing) {
      if (check !== "run") tally.set(`${check}\n${reason}`, (tally.get(`${check}\n${reason}`) || 0) + 1);
    }
  }
  const rows = [...index.lacks.map((x) => ["whole run", `${x.reason}${x.remedy}`, x.runs]),
    ...[...tally].sort((a, b) => b[1] - a[1]).map(([key, n]) => [...key.split("\n"), n])];
  if (!rows.length) return null;
  const head = ["what", "why it could not be asked", "runs"];
  return [h("h2", {}, "Not applicable"), h("div.scroll", { tabIndex: 0, role: "region", "aria-label": "Not applicable" },
    h("table", {}, h("thead", {}, h("tr", {}, head.map((x) => h("th", { scope: "col" }, x)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((x, i) => h(i === 2 ? "td.number" : "td", {}, i ? x : h("code", {}, x))))))))];
}
