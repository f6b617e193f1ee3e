// One call with its answer: a request beside the one before it, a tool's input, what was said.

/** A value as text; what a history leaves out is null, and a reader sees that it is. */
const json = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? null, null, 2));

/** All of an event, and of the call or answer that belongs to it. */
function eventDetail(history, event, open) {
  const call = event.key && history.calls.get(event.key), answer = event.key && history.answers.get(event.key);
  const found = history.marks.get(event.n) || [];
  const title = event.key || event.event;
  return [
    h("h3", {}, h(`span.chip.lane-${event.lane}`, {}, event.lane), " ", title, " ", h("small", {}, `#${event.n} at ${seconds(event.at_ms)}`)),
    found.map((f) => h(`p.proved.${tone(f)}`, {}, h("code", {}, f.code), " ", f.message)),
    call && asked(history, call),
    answer ? answered(history, answer, event) : call && h("p.empty", {}, "No answer came."),
    !call && !answer && facts(Object.fromEntries(Object.entries(event).filter(([key]) => !["line", "lane", "place", "at_ms", "n", "event"].includes(key)))),
    fold("the event as it stands in the history", () => h("pre.text", {}, json({ ...event, line: undefined, lane: undefined, place: undefined })), open),
  ];
}

function asked(history, call) {
  const request = call.request || {}, type = request.type;
  if (type === "model") return modelRequest(history, call);
  const { type: _, rows, input, text, ...rest } = request;
  return h("section", {}, h("h4", {}, "asks"), facts({ ...rest, key: undefined }),
    input !== undefined && h("pre.text", {}, json(input)), text !== undefined && h("pre.text", {}, text),
    (rows || []).map((place) => message(history, place)));
}

/** A request as what differs from the one before it; all of it folds open. */
function modelRequest(history, call) {
  const before = requestBefore(history, call), now = messagesOf(history, call);
  const then = before ? messagesOf(history, before) : [];
  const changes = steps(then, now), kept = changes.filter(([sign]) => sign === "=").map(([, place]) => place);
  const dropped = changes.filter(([sign]) => sign === "-").length, added = changes.length - kept.length - dropped;
  const said = before ? `${kept.length} as in ${before.key}, ${added} new${dropped ? `, ${dropped} gone` : ""}` : "the first of its kind";
  return h("section", {},
    h("h4", {}, `asks with ${count(now.length, "message")} `, h("small", {}, said)),
    call.refused && h("p.bad", {}, `refused by the rules ${call.refused.join(", ")}`),
    fieldChanges(history, before, call),
    kept.length > 0 && fold(`${count(kept.length, "message")} as before`, () => kept.map((place) => message(history, place))),
    paired(history, changes.filter(([sign]) => sign !== "=")),
    before && !added && !dropped && h("p.empty", {}, "The messages are the same as in the request before."),
    fold("the request's other fields", () => fields(history, call)));
}

/** What goes and what comes; two messages of one role that are alike become one, word by word. */
function paired(history, changes) {
  const gone = changes.filter(([sign]) => sign === "-").map(([, place]) => place), made = [];
  for (const [sign, place] of changes) {
    if (sign === "-") continue;
    const text = plainText(history, place), role = history.messages[place]?.role;
    const match = gone.find((other) => history.messages[other]?.role === role && likeness(plainText(history, other), text) > 0.4);
    if (match === undefined) { made.push(message(history, place, "+")); continue; }
    gone.splice(gone.indexOf(match), 1);
    made.push(h("article.message.changed", {}, h("header", {}, h("b", {}, role), h("small", {}, "changed")), wordDiff(plainText(history, match), text)));
  }
  return [...gone.map((place) => message(history, place, "-")), ...made];
}

const plainText = (history, place) => (history.messages[place]?.blocks || [])
  .map((b) => b.text ?? (b.type === "tool_use" ? `${b.name} ${json(b.input)}` : json(b.content ?? b.value ?? ""))).join("\n");

const FIELDS = ["model", "max_tokens", "stream", "tools_offered", "stateful", "header_set", "system", "tools"];

function fields(history, call) {
  const { system, tools, headers, messages, after, keep, type, ...rest } = call.request;
  const value = (place) => h("pre.text", {}, json(history.values[place] ?? ""));
  return [facts({ ...rest, ...headers, tokens: call.tokens, bytes: call.bytes, provider: call.provider, purpose: call.purpose, "retry of the SDK": call.sdk_retry }),
    system !== undefined && [h("h4", {}, "system"), value(system)], tools !== undefined && [h("h4", {}, "tools"), value(tools)]];
}

function fieldChanges(history, before, call) {
  if (!before) return null;
  const value = (of, name) => (["system", "tools"].includes(name) && of[name] !== undefined ? json(history.values[of[name]] ?? "") : json(of[name] ?? "none"));
  const changed = FIELDS.filter((name) => value(before.request, name) !== value(call.request, name));
  return changed.length > 0 && h("dl.facts.changed", {}, changed.map((name) => [h("dt", {}, name),
    h("dd", {}, wordDiff(value(before.request, name), value(call.request, name)))]));
}

function answered(history, answer, event) {
  const value = answer.value, said = answer.blocks ?? -1;
  return h("section", { class: isBad(answer) ? "bad" : "" },
    h("h4", {}, "answers ", h("small", {}, `#${answer.n} at ${seconds(answer.at_ms)}${answer.wait ? `, after ${seconds(answer.wait)}` : ""}`)),
    answer.faults && h("p.faults", {}, "fault ", answer.faults.map((fault) => h("code", {}, fault))),
    facts({ status: answer.status, error: answer.error, outcome: answer.outcome, stop: answer.stop, complete: answer.complete,
      "retry-after": answer.retry_after, "silent ms": answer.silent_ms, usage: answer.usage && json(answer.usage),
      steps: answer.steps?.filter((step) => step !== "answer").join("; ") }),
    said >= 0 && message(history, said),
    value !== null && value !== undefined && h("pre.text", {}, answer.seam === "tool" && !value.text ? resultText(value.content) : json(value.content ?? value.text ?? value)));
}

/** What a tool said. A history leaves out an empty text, and keeps a null and a zero. */
function resultText(content) {
  if (Array.isArray(content)) return content.map((b) => b.text ?? json(b)).join("\n");
  return content === undefined || content === "" ? "(empty text)" : json(content);
}

/** A message: who says it, and its blocks; `sign` tells that it comes or goes. */
function message(history, place, sign = "") {
  const found = history.messages[place];
  if (!found) return h("p.empty", {}, "This message is not in the history.");
  return h("article.message", { class: `message ${{ "+": "added", "-": "gone" }[sign] || ""}` },
    h("header", {}, h("b", {}, found.role), sign && h("small", {}, sign === "+" ? "new" : "gone")), (found.blocks || []).map(block));
}

function block(found) {
  switch (found.type) {
    case "text": return h("pre.text", {}, found.text);
    case "thinking": return h("div.block", {}, h("small", {}, "thinks"), h("pre.text.faint", {}, found.text || "(no text)"));
    case "tool_use": return h("div.block", {}, h("small", {}, "calls "), h("code", {}, found.name), " ", h("small", {}, found.id), h("pre.text", {}, json(found.input)));
    case "tool_result": return h("div.block", { class: found.is_error ? "block bad" : "block" },
      h("small", {}, found.is_error ? "error of " : "result of "), h("small", {}, found.id),
      h("pre.text", {}, resultText(found.content)));
    default: return h("div.block", {}, h("small", {}, found.kind || found.type), h("pre.text", {}, json(found.value ?? found)));
  }
}

/** Names and values, without those that say nothing. */
function facts(values) {
  const said = Object.entries(values).filter(([, v]) => v !== undefined && v !== null && v !== "" && v !== 0 && v !== false || name === "complete" && v === false);
  return said.length > 0 && h("dl.facts", {}, said.map(([name, v]) => [h("dt", {}, name), h("dd", {}, typeof v === "object" ? h("pre.text", {}, json(v)) : String(v))]));
}
