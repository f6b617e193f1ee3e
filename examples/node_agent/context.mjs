// What the model gets to see of a session, and what to do when it is too much.
//
// At most three attempts a turn: the rows as they are; the older ones replaced by a summary; the
// newest inbound message alone. Each is smaller than the one before, or it is skipped, for the
// same request gets the same answer. The stored rows stay as they are throughout.

import { requestBody } from "./anthropic.mjs";
import { isResult, textBlock, textOf } from "./blocks.mjs";
import { encode } from "./encode.mjs";
import { project } from "./projection.mjs";

const ENOUGH_SMALLER = 0.8; // a summary that saves less would only be needed again
const MARGIN = 0.7; // of what is known to fit: the instruction and the estimate want room
const SHORTEST = 80; // characters of a row: of a shorter one, a cut leaves no sense
const INSTRUCTION =
  "Summarise the conversation below so that it can go on without it: what the user wants, what " +
  "was done and decided, what is open. Write only the summary.";

const userRow = (text) => ({ role: "user", blocks: [textBlock(text)] });

const summaryRow = (text) => userRow(`Summary of the conversation so far:\n${text}`);

const sizeOf = (messages) => encode(messages).length;

/** Characters that are sure to fit, judged by a refused request and the figures in its error. */
export function roomFor(refused, message) {
  const [, asked, maximum] = /(\d+)\D+?>\s*(\d+)/.exec(message) ?? [];
  const share = asked ? Number(maximum) / Number(asked) : 0.5;
  return Math.floor(sizeOf(refused) * Math.min(share, 1) * MARGIN);
}

const isThought = ({ type }) => type === "thinking";

const lineOf = ({ role, blocks }) => `${role}: ${encode(blocks.filter((b) => !isThought(b)))}`;

/** The beginning and the end of a text, with a notice of the cut between them. */
function cut(text, most) {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)}[… ${text.length - 2 * half} characters cut …]${text.slice(-half)}`;
}

/**
 * All rows as plain text: nothing in it can be paired wrongly. Where they do not fit, the longest
 * are cut first. The oldest rows hold what the user wants, so they are left out last of all, and
 * never the first: it may be the earlier summary.
 */
export function transcript(rows, room) {
  const [first = "", ...rest] = rows.map(lineOf);
  let most = Math.max(0, ...rest.map(({ length }) => length));
  const text = (lines) => [first, ...lines.map((line) => cut(line, most))].join("\n");
  while (text(rest).length > room && most > SHORTEST) most = Math.floor(most * 0.9);
  const lines = [...rest];
  while (lines.length > 0 && text(lines).length > room) lines.shift();
  const left = rest.length - lines.length;
  if (left > 0) lines.unshift(`(${left} messages are left out here.)`);
  return text(lines);
}

function noteOfCalls(rows) {
  const count = rows.flatMap(({ blocks }) => blocks.filter(isResult)).length;
  const note = `(${count} tool calls were already answered for this message; left out here.)`;
  return count === 0 ? [] : [textBlock(note)];
}

/** The view of one turn on its session; `inboundAt` is the row of the message to be answered. */
export class Context {
  #steps = ["compact", "drop"];
  #summary;
  #isNewSummary = false;
  #droppedUpTo = null; // rows of this turn before it are left out as well

  constructor(store, inboundAt) {
    this.store = store;
    this.inboundAt = inboundAt;
    this.#summary = store.readSummary();
  }

  #rows() {
    const from = this.#droppedUpTo;
    if (from === null) return this.#summarised(this.#summary);
    return [this.#inboundAlone(), ...this.#slice(from)];
  }

  #slice(from, to) {
    return this.store.rows.slice(from, to);
  }

  #summarised(summary, to) {
    return summary
      ? [summaryRow(summary.text), ...this.#slice(summary.covers, to)]
      : this.#slice(0, to);
  }

  #inboundAlone() {
    const inbound = this.store.rows[this.inboundAt];
    const note = noteOfCalls(this.#slice(this.inboundAt, this.#droppedUpTo));
    return { ...inbound, blocks: [...inbound.blocks, ...note] };
  }

  messages() {
    return project(this.#rows());
  }

  /** After a refusal: takes the next step that makes the request smaller; false if none is left. */
  async shrink(error, ask, options) {
    const refused = this.messages();
    while (this.#steps.length > 0) {
      const step = this.#steps.shift();
      if (step === "compact") await this.#compact(refused, error, ask, options);
      else this.#drop();
      if (sizeOf(this.messages()) < sizeOf(refused)) return true;
    }
    return false;
  }

  /** Leaves everything as it is when there is nothing to summarise or the summary is no good. */
  async #compact(refused, error, ask, options) {
    const older = this.#summarised(this.#summary, this.inboundAt);
    const text = transcript(older, roomFor(refused, error.message));
    if (text === "") return;
    const request = project([userRow(`${INSTRUCTION}\n\n${text}`)]);
    const reply = await ask(requestBody(options, request), "compact").catch(() => null);
    const summary = { covers: this.inboundAt, text: textOf(reply?.blocks ?? []).trim() };
    if (reply?.stop !== "end_turn" || summary.text === "") return;
    const after = project(this.#summarised(summary));
    if (sizeOf(after) > sizeOf(refused) * ENOUGH_SMALLER) return;
    this.#summary = summary;
    this.#isNewSummary = true;
  }

  #drop() {
    this.#droppedUpTo = this.store.rows.length;
  }

  /** The model took the request: a summary that made it fit serves the later turns too. */
  accepted() {
    if (this.#isNewSummary) this.store.writeSummary(this.#summary);
    this.#isNewSummary = false;
  }
}
