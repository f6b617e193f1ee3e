// The page: the address decides what is shown; keys, colours and printing work everywhere.

const KEYS = [["/", "search"], ["j k ↓ ↑", "next, previous row"], ["→ ←", "open, close a group"], ["Enter", "open a run; go to the chosen event"],
  ["Esc", "back; clear the filters"], ["n p", "next, previous event that proves a finding"], ["[ ]", "previous, next failed run"],
  ["c", "copy the command that repeats the run"], ["t", "light, dark, as the system"], ["?", "this list"]];
const THEMES = ["", "light", "dark"];
const NO_FILTERS = { q: "", verdict: "", class: "", code: "", wire: "" };
let view = null, first = null, index = null;

function go(to) {
  if (to.id) { location.hash = addressOf(to); return; }
  const said = new URLSearchParams(Object.entries(to).filter(([, value]) => value));
  window.history.replaceState(null, "", `#/${said.size ? `?${said}` : ""}`);
  index.home = location.hash;
  route();
}

async function route() {
  const [, place, id, n] = /^#\/(run)\/([^/?]+)(?:\/(\d+))?/.exec(location.hash) || [];
  const only = index.runs.length === 1 && index.runs[0];
  const run = place ? index.byId.get(id) : only;
  if (run) return showRun(run, Number(n) || 0);
  const lost = location.hash.length > 1 && !location.hash.startsWith("#/?") && location.hash !== "#/";
  const filters = { ...NO_FILTERS, ...Object.fromEntries(new URLSearchParams(location.hash.split("?")[1] || "")) };
  first ||= overview(index, { ...filters }, go);
  if (view !== first) put(first, index.title);
  sync(filters);
  view.update(filters);
  view.tellLost(lost ? `This page has no run ${unescaped(id) || location.hash}. All of its runs are below.` : "");
  if (view.top) window.scrollTo(0, view.top);
  view.top = 0;
}

/** An address as a person wrote it; one that is no address stays as it is. */
function unescaped(id) {
  try { return decodeURIComponent(id || ""); } catch { return id; }
}

function sync(filters) {
  for (const field of document.querySelectorAll(".filters [name]")) {
    if (field !== document.activeElement) field.value = filters[field.name] || "";
  }
}

async function showRun(run, n) {
  if (view?.run !== run) {
    const made = await runView(index, run, go);
    put({ ...made, run }, run.name);
    view.show();
    view.jump(n, !n);
    if (!n) window.scrollTo(0, 0);
  } else if (n) view.jump(n);
}

function put(made, title) {
  if (view === first && first) first.top = window.scrollY;
  if (view) $("main").focus({ preventScroll: true });
  view = made;
  document.title = visible(title);
  fill($("main"), made.node);
  made.show();
}

function help() {
  const box = $("help");
  fill(box, h("h2", { id: "help-title" }, "Keys"), h("dl.keys", {}, KEYS.map(([key, does]) => [h("dt", {}, key.split(" ").map((k) => h("kbd", {}, k))), h("dd", {}, does)])),
    h("button", { type: "button", onclick: () => box.close() }, "Close"));
  if (!box.open) box.showModal();
}

function theme(next) {
  const root = document.documentElement, now = THEMES.indexOf(root.dataset.theme || "");
  root.dataset.theme = next ?? THEMES[(now + 1) % THEMES.length];
  const button = document.querySelector(".theme");
  if (button) button.textContent = { light: "Light", dark: "Dark" }[root.dataset.theme] || "Auto";
}

function pressed(event) {
  const typing = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (typing && event.key !== "Escape") return;
  if (typing) { typing.blur(); event.preventDefault(); return; }
  const act = { "?": help, t: () => theme(), ...view?.keys }[event.key];
  const own = event.key === "Enter" && event.target.closest("a, button, summary");
  const scrolls = event.key.startsWith("Arrow") && event.target.closest(".detail, .lanes");
  if (!act || own || scrolls) return;
  event.preventDefault();
  act();
}

/** Paper has no scrolling: every row of a short list, and all of the lanes, are drawn. */
function printing(on) {
  for (const list of view?.lists?.() || []) { if (list) { list.whole = on && list.rows.length <= 2000; list.box.classList.toggle("whole", list.whole); list.refresh(); } }
  if (view?.lanes) view.lanes.whole = on;
  view?.show?.();
}

index = prepared(await unpack("index"));
fill($("top"), h("a.brand", { href: "#/" }, "loop-harness"), h("span.space"),
  h("button.theme", { type: "button", onclick: () => theme(), title: "Colours (t)" }, "Auto"), h("button", { type: "button", onclick: help, title: "Keys (?)" }, "Keys"));
theme("");
window.addEventListener("hashchange", route);
window.addEventListener("keydown", pressed);
window.addEventListener("resize", () => view?.show?.());
window.addEventListener("beforeprint", () => printing(true));
window.addEventListener("afterprint", () => printing(false));
$("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });
await route();
document.documentElement.dataset.ready = "yes";
