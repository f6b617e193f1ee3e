// Elements, text and lists. Every text of a run goes through `h`, which makes text nodes of it.

const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "g", "rect", "path", "line", "circle", "text", "title"]);
const OBEYED =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/;

/** @param {string} id @returns {HTMLElement} */
const $ = (id) => document.getElementById(id);

/** A character that a reader cannot see, or that turns text around, as its escape. */
const escaped = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** One line of text for a title or an attribute. */
const visible = (text) => String(text).replace(new RegExp(OBEYED, "g"), escaped);

/** Text as nodes: what a reader cannot see stands there as an escape with a frame. */
function textNodes(text) {
  return String(text).split(new RegExp(`(${OBEYED.source})`)).filter(Boolean).map((part) => {
    if (!OBEYED.test(part)) return document.createTextNode(part);
    const mark = document.createElement("span");
    mark.className = "ctl";
    mark.textContent = escaped(part);
    return mark;
  });
}

/**
 * An element: `h("p.note", {id: "x", onclick: f}, "text", child)`. A text is never read as HTML.
 * @param {string} tag @param {Object<string, any>} [props] @param {...any} children
 */
function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = DRAWN.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && !DRAWN.has(name)) made[key] = key === "title" ? visible(value) : value;
    else if (value !== undefined && value !== false) made.setAttribute(key, visible(value));
  }
  add(made, children);
  return made;
}

function add(parent, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(...(child instanceof Node ? [child] : textNodes(child)));
  }
}

function fill(parent, ...children) {
  parent.replaceChildren();
  add(parent, children);
}

const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const seconds = (ms) => `${((ms || 0) / 1000).toFixed(3)} s`;
const announce = (text) => { $("said").textContent = visible(text); };

/** A part that is made when it is first opened. */
function fold(title, make, open = false, tag = "details") {
  const made = h(tag, {}, h("summary", {}, title));
  const once = () => { if (made.open && made.children.length === 1) add(made, make()); };
  made.addEventListener("toggle", once);
  if (open) { made.open = true; once(); }
  return made;
}

/** A text to copy, with its button. */
function copyable(text, label) {
  const button = h("button.copy", { type: "button", "aria-label": `Copy: ${label}` }, "Copy");
  button.onclick = async () => {
    const done = await copied(text);
    button.textContent = done ? "Copied" : "Select it";
    announce(done ? "Copied" : "Select the text and copy it");
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  return h("div.copyable", {}, h("code", {}, text), button);
}

/** A file that is opened from a disk may have no clipboard; then the old way is tried. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h("textarea", { value: text, readOnly: true });
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

/**
 * A list of rows of one height, of which only those in sight exist.
 * @param {{rows: any[], height: number, draw: (row: any, place: number) => HTMLElement,
 *   choose: (place: number) => void, label: string, role?: string, head?: HTMLElement}} of
 */
function virtualList({ rows, height, draw, choose, label, role = "listbox", head }) {
  const inner = h("div.inner", { role: "presentation" });
  const box = h("div.list", { role, tabIndex: 0, "aria-label": label }, head || [], inner);
  const made = { box, rows, at: -1, whole: false, refresh, set, select };
  function refresh() {
    inner.style.height = made.whole ? "auto" : `${made.rows.length * height}px`;
    const above = Math.max(0, box.scrollTop - (head ? head.offsetHeight : 0));
    const first = made.whole ? 0 : Math.max(0, Math.floor(above / height) - 8);
    const seen = Math.ceil((box.clientHeight || 800) / height) + 16;
    const last = made.whole ? made.rows.length : Math.min(made.rows.length, first + seen);
    inner.replaceChildren();
    for (let place = first; place < last; place += 1) {
      const row = draw(made.rows[place], place);
      row.style.transform = made.whole ? "none" : `translateY(${place * height}px)`;
      row.id ||= `row-${place}`;
      row.setAttribute("aria-selected", String(place === made.at));
      row.onclick = (click) => { if (!click.defaultPrevented) select(place, true); };
      inner.append(row);
    }
    const chosen = inner.querySelector("[aria-selected=true]");
    if (chosen) box.setAttribute("aria-activedescendant", chosen.id);
    else box.removeAttribute("aria-activedescendant");
  }
  function set(rowsNow) {
    made.rows = rowsNow;
    made.at = Math.min(made.at, rowsNow.length - 1);
    refresh();
  }
  function select(place, byHand = false) {
    if (!made.rows.length) return;
    made.at = Math.max(0, Math.min(place, made.rows.length - 1));
    const top = made.at * height, space = box.clientHeight - (head ? head.offsetHeight : 0);
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + space) box.scrollTop = top + height - space;
    refresh();
    choose(made.at, byHand);
    if (byHand) box.scrollIntoView({ block: "nearest" });
  }
  box.addEventListener("scroll", () => requestAnimationFrame(refresh), { passive: true });
  return made;
}
