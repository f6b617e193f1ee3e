// The tables of a command: what each row and each column came to together.

const CELLS = { held: "·", found: "✗", open: "?" };

/** Each table, folded; the first ones are open. */
function matrices(index) {
  const tables = index.matrices || [];
  if (!tables.length) return null;
  return [h("h2", {}, "Faults and calls"), matrixLegend(),
    tables.map((table, place) => fold(`${table.title}: ${count(table.rows.length, table.corner)}, ${count(table.columns.length, "call")}`,
      () => drawnMatrix(index, table), place < 2))];
}

function drawnMatrix(index, table) {
  const cells = new Map(table.cells.map((cell) => [`${cell.row} ${cell.column}`, cell]));
  const head = h("div.row.head", { role: "row" }, h("span.name", { role: "columnheader" }, table.corner),
    table.columns.map((call) => h("span.check", { role: "columnheader" }, h("span", {}, call))));
  const list = virtualList({ rows: table.rows, height: ROW, head, role: "treegrid", label: table.title, choose: () => {},
    draw: (name, row) => h("div.row", { role: "row", "aria-level": 1 }, h("span.name", { role: "rowheader" }, h("code", {}, name)),
      table.columns.map((call, column) => tableCell(index, cells.get(`${row} ${column}`), `${name} at ${call}`))) });
  list.box.classList.add("matrix");
  list.box.style.setProperty("--checks", table.columns.length);
  list.refresh();
  return list.box;
}

function tableCell(index, cell, where) {
  if (!cell) return h("span.cell.absent", { role: "gridcell", title: `${where}: changes nothing there` });
  const title = `${where}: ${cell.text}`;
  const run = cell.result && index.byId.get(encodeURIComponent(cell.result));
  const said = cell.cases > 1 && cell.word !== "held" ? String(cell.cases) : CELLS[cell.word];
  const inside = run ? h("a", { href: addressOf(run), tabIndex: -1, "aria-label": title }, said) : said;
  const tone = { held: "passed", open: "c-below", found: `c-${cell.class || "run"}` }[cell.word];
  return h(`span.cell.${tone}`, { role: "gridcell", title }, inside);
}

const matrixLegend = () => h("p.legend", {},
  [...CLASSES, "run", "below"].map((word) => h("span", {}, h(`i.swatch.c-${word}`, { "aria-hidden": "true" }),
    { run: "of the run itself", below: "open" }[word] || word)),
  h("span", {}, "· held"), h("span", {}, "blank: the fault changes nothing at this call"));
