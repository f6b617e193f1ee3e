// The careful agent: a turn that always ends, says truthfully how, and survives a crash.
//
// Order matters more than anything else here. The inbound message is on disk before the first
// request; each reply and result before the next; the answer before it is delivered. Nothing is
// kept in memory from one inbound message to the next.

import { ModelError } from "./anthropic.mjs";
import { callsOf, textBlock, textOf } from "./blocks.mjs";
import { callTool, deliver, listTools } from "./seams.mjs";
import { Store } from "./store.mjs";
import { MODEL_CALLS, Turn } from "./turn.mjs";

const CUT_OFF =
  "your message was cut off, so the arguments may be incomplete; nothing was executed; " +
  "send the call again, in smaller pieces";
const END_OF_TOOLS =
  "No more tools can be used for this message: answer the user now, in plain words, and say what " +
  "could not be done.";

const STATUS_OF_STOP = {
  end_turn: "ok",
  stop_sequence: "ok",
  max_tokens: "truncated",
  refusal: "refusal",
}; // anything else is "failed"

const final = (text, status) => ({ kind: "final", text, status });
const failure = (text) => ({ kind: "error", text, status: "failed" });

/** The result of a call that may run: from the tool, or from us when the call is no good. */
async function perform(turn, call, isWhole) {
  const refused = (content) => ({ content, is_error: true });
  if (!turn.guards.knows(call.name)) {
    const known = turn.tools.map(({ name }) => name).join(", ");
    return refused(`there is no tool ${call.name}; there are: ${known || "none"}`);
  }
  if (!isWhole) return refused(CUT_OFF);
  if (turn.guards.lacksArguments(call)) return refused(turn.guards.guidance(call));
  return callTool(call);
}

/** Answers every call of a reply, in order; gives the reason to end the turn, if there is one. */
async function runCalls(turn, { blocks, stop, unreadable }) {
  const calls = callsOf(blocks);
  turn.guards.startMessage(calls);
  let reason = turn.callsLeft <= 1 ? `${MODEL_CALLS} model calls are spent` : null;
  const results = [];
  for (const call of calls) {
    reason ??= turn.guards.whyStop(call);
    const isWhole = stop === "tool_use" && !unreadable.has(call.id);
    const result = reason
      ? { content: `Not executed: ${reason}. ${END_OF_TOOLS}`, is_error: true }
      : await perform(turn, call, isWhole);
    if (!reason) turn.guards.record(call, result);
    results.push({ type: "tool_result", id: call.id, ...result });
  }
  turn.store.append({ role: "user", blocks: results });
  return reason;
}

/** The last words of a turn that gets nowhere: the model's if it can, else our own. */
async function endWithoutTools(turn, reason) {
  const own = `I had to stop: ${reason}. What you asked for is not done.`;
  const reply = await turn.ask([]).catch((error) => {
    console.error(`last answer: ${error.message}`);
    return null;
  });
  return final(textOf(reply?.blocks ?? []).trim() || own, "failed");
}

/** An empty reply gets one changed request; what is still empty is reported, not made up. */
async function askForText(turn) {
  const reply = await turn.ask(turn.tools, "Please answer.");
  return callsOf(reply.blocks).length > 0 || textOf(reply.blocks).trim() ? reply : null;
}

async function runTurn(turn) {
  for (;;) {
    let reply = await turn.ask(turn.tools);
    const isEmpty = callsOf(reply.blocks).length === 0 && !textOf(reply.blocks).trim();
    if (isEmpty && reply.stop === "end_turn") reply = await askForText(turn);
    if (!reply) return failure("The model gave no answer, even when asked again.");
    if (callsOf(reply.blocks).length > 0) {
      turn.store.append({ role: "assistant", blocks: reply.blocks });
      const reason = await runCalls(turn, reply);
      if (reason) return endWithoutTools(turn, reason);
    } else if (reply.stop === "pause_turn" && turn.callsLeft > 1) {
      turn.store.append({ role: "assistant", blocks: reply.blocks });
    } else {
      return { ...final(...textAndStatus(reply)), blocks: reply.blocks };
    }
  }
}

function textAndStatus({ blocks, stop }) {
  const text = textOf(blocks).trim();
  const status = STATUS_OF_STOP[stop] ?? "failed";
  if (text === "") return [`The model stopped without an answer (${stop}).`, "failed"];
  return [textOf(blocks), status];
}

/** Errors become a reply: silence would leave the user, and the history, without an answer. */
function replyOfError(error) {
  if (error.overflow) return failure("conversation too long");
  console.error(error.stack);
  if (!(error instanceof ModelError)) return failure(`I failed inside: ${error.message}`);
  const status = error.status ? `${error.status} ${error.type}`.trim() : "no reply";
  return failure(`The model could not be asked (${status}): ${error.message}`);
}

/** The receipt comes last: if it is lost, the reader gets the same text twice, not never. */
async function deliverStored(store, session, { in_reply_to: id, kind, status, blocks }) {
  const isTaken = await deliver({ session, in_reply_to: id, kind, text: textOf(blocks), status });
  if (isTaken) store.noteDelivered(id);
}

function storeReply(store, id, { kind, text, status, blocks = [] }) {
  const spoken = textOf(blocks).trim() ? blocks : [textBlock(text)];
  const row = { role: "assistant", blocks: spoken, in_reply_to: id, kind, status };
  store.append(row);
  return row;
}

/**
 * A message that came before is never processed twice. Its reply is sent again if the outbox never
 * took it; if a crash left it without a reply, the user is told instead of tools running again.
 */
async function answerKnown(store, { id, session }) {
  if (store.wasDelivered(id)) return;
  const interrupted = failure("I was interrupted before I could answer; please ask again.");
  await deliverStored(store, session, store.replyTo(id) ?? storeReply(store, id, interrupted));
}

async function answerNew(store, { id, session, text }, options) {
  store.append({ role: "user", blocks: [textBlock(text)], id });
  const reply = await listTools()
    .then((tools) => runTurn(new Turn(store, options, tools)))
    .catch(replyOfError);
  await deliverStored(store, session, storeReply(store, id, reply));
}

/** Answers one inbound message; the store is read afresh each time. */
export async function answer(inbound, options) {
  const { id, session, text } = inbound;
  const report = (words) => deliver({ session, in_reply_to: id, ...failure(words) });
  try {
    const store = new Store(session);
    if (store.has(id)) await answerKnown(store, inbound);
    else if (text?.trim()) await answerNew(store, inbound, options);
    else await report("The message was empty."); // and nothing is stored: it cannot be sent
  } catch (error) {
    console.error(error.stack); // the disk: what cannot be stored is not answered, but reported
    await report(`I could not keep this message: ${error.message}`);
  }
}
