// The lanes of a run over its virtual time: one mark a call, faults and findings above it.

const LANES = ["inbox", "agent", "model", "tools", "store", "outbox", "clock"];
const LANE = 26, TOP = 22, LEFT = 62, STEP = 11, BOTTOM = 22;

/**
 * Where each event stands: in order, with room for the time between two; or by time alone.
 * @returns {Float64Array}
 */
function placesOf(events, byTime, width) {
  const places = new Float64Array(events.length), space = width - LEFT - 40;
  const end = Math.max(1, events.at(-1)?.at_ms || 0);
  events.forEach((event, i) => {
    const gap = i ? event.at_ms - events[i - 1].at_ms : 0;
    const step = i ? STEP + (gap > 0 ? 18 + 9 * Math.log10(1 + gap / 10) : 0) : 0;
    places[i] = byTime ? (event.at_ms / end) * space : (places[i - 1] || 0) + step;
  });
  const spread = byTime ? 1 : Math.min(3, Math.max(0.7, space / (places.at(-1) || 1)));
  return places.map((place) => 10 + place * spread);
}

function laneView(history, choose) {
  const { events } = history;
  const svg = h("svg", { role: "img", "aria-label": laneLabel(events) });
  const inner = h("div.inner", {}, svg);
  const box = h("div.lanes", { tabIndex: -1 }, inner);
  const spans = spansOf(history);
  let byTime = false, places = [], at = -1;
  const height = TOP + LANES.length * LANE + BOTTOM;
  svg.setAttribute("height", height);

  function layout() {
    places = placesOf(events, byTime, Math.max(box.clientWidth, 320));
    const last = places.length ? places.at(-1) : 0;
    inner.style.width = `${Math.max(box.clientWidth - 2, LEFT + last + 40)}px`;
    draw();
  }
  function draw() {
    const from = box.scrollLeft, width = box.clientWidth || 1200, whole = made.whole;
    const x = (i) => LEFT + places[i] - (whole ? 0 : from);
    const seen = (i, j = i) => whole || (x(j) > LEFT - 40 && x(i) < width + 40);
    if (whole) svg.setAttribute("viewBox", `0 0 ${LEFT + (places.at(-1) || 0) + 40} ${height}`);
    else svg.removeAttribute("viewBox");
    svg.setAttribute("width", whole ? "100%" : width);
    const lanes = LANES.map((lane, i) => h("g.lane", {},
      h("rect", { x: 0, y: TOP + i * LANE, width: "100%", height: LANE, class: i % 2 ? "odd" : "even" })));
    const marks = spans.filter((s) => seen(s.from, s.to)).map((s) => spanMark(s, x));
    const flags = [];
    for (const [n, findings] of history.marks) {
      const event = history.byN.get(n);
      if (seen(event.place)) flags.push(flag(event, findings, x(event.place)));
    }
    const chosen = at >= 0 && h("line.chosen", { x1: x(at), x2: x(at), y1: 4, y2: height - BOTTOM });
    const names = h("g.names", {}, h("rect", { x: 0, y: 0, width: LEFT - 4, height }),
      LANES.map((lane, i) => h("text", { x: 8, y: TOP + i * LANE + 17 }, lane)));
    fill(svg, lanes, chosen, marks, flags, ticks(events, x, seen, height), names);
  }
  box.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  svg.addEventListener("click", (click) => {
    const marked = click.target.closest("[data-n]");
    if (marked) return choose(history.byN.get(Number(marked.dataset.n)).place);
    const wanted = click.offsetX - LEFT + box.scrollLeft;
    let best = 0;
    places.forEach((place, i) => { if (Math.abs(place - wanted) < Math.abs(places[best] - wanted)) best = i; });
    choose(best);
  });
  const made = {
    box, whole: false, layout, draw,
    select(place) {
      at = place;
      const x = places[place] ?? 0, space = box.clientWidth - LEFT - 60;
      if (x < box.scrollLeft || x > box.scrollLeft + space) box.scrollLeft = Math.max(0, x - space / 2);
      draw();
    },
    swap() { byTime = !byTime; layout(); return byTime; },
  };
  return made;
}

/** The marks of a run: calls with their answers, turns, waits, and events that stand alone. */
function spansOf(history) {
  const spans = [];
  let turn = null;
  const end = (to) => { if (turn) spans.push({ ...turn, to }); turn = null; };
  history.events.forEach((event, i) => {
    const title = `#${event.n}  ${seconds(event.at_ms)}  ${event.line}`;
    if (event.event === "called") {
      const answer = history.answers.get(event.key);
      spans.push({ lane: event.lane, from: i, to: answer ? answer.place : i, n: event.n, title,
        bad: isBad(answer), faults: answer?.faults, refused: event.refused?.length });
      if (event.seam === "inbox" && !event.request?.poll) end(i);
    } else if (event.event === "answered") {
      if (!history.calls.has(event.key)) spans.push({ lane: event.lane, from: i, to: i, n: event.n, title, bad: isBad(event), faults: event.faults });
      if (event.seam === "inbox" && event.turn && event.value) {
        end(i);
        turn = { lane: "agent", from: i, n: event.n, turn: event.turn, title: `turn ${event.turn} of ${event.session || "main"}` };
      }
    } else {
      spans.push({ lane: event.lane, from: i, to: i, n: event.n, title, end: event.event === "ended" || event.event === "killed",
        bad: event.event === "killed" || (event.event === "ended" && event.how !== "returned") });
    }
    const gap = i ? event.at_ms - history.events[i - 1].at_ms : 0;
    if (gap > 0) spans.push({ lane: "clock", from: i - 1, to: i, n: event.n, gap, title: `${seconds(gap)} pass` });
  });
  end(history.events.length - 1);
  return spans.sort((a, b) => (a.turn ? 0 : 1) - (b.turn ? 0 : 1));
}

function spanMark(span, x) {
  const y = TOP + LANES.indexOf(span.lane) * LANE;
  const left = x(span.from), width = Math.max(x(span.to) - left, 7);
  const tall = span.turn ? 18 : 12;
  const mark = h("g.span", { "data-n": span.n }, h("title", {}, visible(span.title)),
    h(`rect.lane-${span.lane}`, { x: left - 3, y: y + (LANE - tall) / 2, width: width + (span.from === span.to ? 0 : 5), height: tall, rx: 3,
      class: [`lane-${span.lane}`, span.bad && "bad", span.turn && "turn", span.end && "end"].filter(Boolean).join(" ") }));
  if (span.turn) mark.append(h("text", { x: Math.max(left, LEFT) + 2, y: y + 17 }, `turn ${span.turn}`));
  if (span.gap && width > 34) mark.append(h("text.gap", { x: left + width / 2, y: y + 17 }, briefly(span.gap)));
  if (span.faults?.length) {
    const fx = x(span.to), fy = y + 2;
    mark.append(h("path.fault", { d: `M${fx + 2} ${fy - 1}l-6 9h4l-3 8 8-10h-4l3-7z` }, h("title", {}, `fault: ${span.faults.join(", ")}`)));
  }
  return mark;
}

const briefly = (ms) => (ms < 1000 ? `${ms} ms` : ms < 120000 ? `${+(ms / 1000).toFixed(1)} s` : ms < 7200000 ? `${Math.round(ms / 60000)} min` : `${Math.round(ms / 3600000)} h`);

/** A time of the run's clock: `700 ms`, `1.4 s`, `7:00.7`, `1:00:00`. */
function clockTime(ms) {
  if (ms < 60000) return briefly(ms);
  const two = (n) => String(n).padStart(2, "0"), s = Math.floor(ms / 1000);
  const rest = ms % 1000 ? `.${Math.floor((ms % 1000) / 100)}` : "";
  const hours = s >= 3600 ? `${Math.floor(s / 3600)}:` : "", minutes = Math.floor(s / 60) % 60;
  return `${hours}${hours ? two(minutes) : minutes}:${two(s % 60)}${rest}`;
}

function flag(event, findings, x) {
  const first = [...findings].sort((a, b) => severity(a) - severity(b))[0];
  const y = TOP + LANES.indexOf(event.lane) * LANE + LANE / 2;
  if (event.event === "called") x += 4;
  return h(`g.flag.${tone(first)}`, { "data-n": event.n },
    h("title", {}, visible(findings.map((f) => f.code).join(", "))),
    h("line", { x1: x, x2: x, y1: 16, y2: y }), h("path", { d: `M${x} 4l6 6-6 6-6-6z` }), h("circle", { cx: x, cy: y, r: 9 }));
}

function ticks(events, x, seen, height) {
  const made = [];
  let last = -1e9, at = -1;
  events.forEach((event, i) => {
    if (event.at_ms === at || !seen(i) || x(i) - last < 64) return;
    last = x(i);
    at = event.at_ms;
    made.push(h("text.tick", { x: last, y: height - 6 }, clockTime(event.at_ms)));
  });
  return made;
}

function laneLabel(events) {
  const calls = (lane) => events.filter((e) => e.event === "called" && e.lane === lane).length;
  const faults = events.reduce((n, e) => n + (e.faults?.length || 0), 0);
  return `Lanes: ${count(calls("model"), "model call")}, ${count(calls("tools"), "tool call")}, `
    + `${count(faults, "fault")}, over ${seconds(events.at(-1)?.at_ms)} of the run's clock. The list of events says the same.`;
}
