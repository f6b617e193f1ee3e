// One turn: what it may still spend, what it has counted, and how it asks the model.
//
// Every request of the turn goes through `request`, so nothing escapes the limit: repeats after an
// error count, and so does the request for a summary.

import { ModelError, postMessages, requestBody } from "./anthropic.mjs";
import { callsOf, textBlock } from "./blocks.mjs";
import { Context } from "./context.mjs";
import { Guards } from "./guards.mjs";
import { withRetries } from "./retry.mjs";

export const MODEL_CALLS = 20; // a turn; the last one is kept for an answer without tools

/** One turn's state: what was stored, what the model sees, what may still be spent. */
export class Turn {
  constructor(store, options, tools) {
    this.options = options;
    this.store = store;
    this.tools = tools;
    this.guards = new Guards(tools);
    this.context = new Context(store, store.rows.length - 1);
    this.callsLeft = MODEL_CALLS;
  }

  request = (body, purpose) =>
    withRetries(() => {
      if (this.callsLeft <= 0) throw new ModelError("the model was called too often");
      this.callsLeft -= 1;
      return postMessages(body, purpose);
    });

  /** The model's next reply. Too long a history is shrunk on the way, or ends in an error. */
  async ask(tools, nudge) {
    for (;;) {
      const messages = nudged(this.context.messages(), nudge);
      try {
        const reply = await this.request(requestBody(this.options, messages, tools), "main");
        this.context.accepted();
        return withUniqueIds(reply, this.store.rows);
      } catch (error) {
        if (!error.overflow) throw error;
        if (!(await this.context.shrink(error, this.request, this.options))) throw error;
      }
    }
  }
}

/** An empty reply comes again if the request is the same; so one sentence is added, unstored. */
function nudged(messages, nudge) {
  if (!nudge) return messages;
  const last = messages.at(-1);
  return [...messages.slice(0, -1), { ...last, content: [...last.content, textBlock(nudge)] }];
}

/** Some providers mint an id twice; the API refuses a history that has one twice. */
function withUniqueIds({ blocks, stop, unreadable }, rows) {
  const taken = new Set(rows.flatMap((row) => callsOf(row.blocks)).map(({ id }) => id));
  const bad = new Set();
  const unique = blocks.map((block) => {
    if (block.type !== "tool_use") return block;
    let { id } = block;
    for (let n = 2; taken.has(id) || id === ""; n += 1) id = `${block.id || "call"}_${n}`;
    taken.add(id);
    if (unreadable.has(block.id)) bad.add(id);
    return { ...block, id };
  });
  return { blocks: unique, stop, unreadable: bad };
}
