// Stored rows -> the list of messages of one request. Pure; the rows themselves are never touched.
//
// A history gets flaws: a crash leaves a call without its result, two messages come in a row. The
// API refuses some of them on every later turn. They are mended here, on a copy, each time anew:
// a repair of the stored list would lose what the user wrote or what was answered.

import { callsOf, isResult, toWire } from "./blocks.mjs";

const NO_RESULT = "No result of this call is stored: it may or may not have run.";

const sideOf = (role) => (role === "assistant" ? "assistant" : "user");

function isBlank(block) {
  if (block.type === "text") return block.text.trim() === "";
  return block.type === "thinking" && !block.signature && !block.redacted; // of another vendor
}

function withoutBlanks(block) {
  if (!isResult(block)) return block;
  const { content = "" } = block;
  const isText = typeof content === "string";
  const kept = isText ? content : content.filter((part) => !isBlank(part));
  const hasOutput = isText ? kept.trim() !== "" : kept.length > 0;
  return { ...block, content: hasOutput ? kept : "(no output)" };
}

const isThought = ({ type }) => type === "thinking";

function cleaned({ role, blocks }) {
  const kept = blocks.filter((block) => !isBlank(block)).map(withoutBlanks);
  return { side: sideOf(role), blocks: kept.every(isThought) ? [] : kept };
}

/** Drops empty messages and joins neighbours of one side; the first one is the user's. */
function merged(messages) {
  const list = [];
  for (const { side, blocks } of messages) {
    if (blocks.length === 0) continue;
    if (list.at(-1)?.side === side) list.at(-1).blocks.push(...blocks);
    else if (side === "user" || list.length > 0) list.push({ side, blocks: [...blocks] });
  }
  return list;
}

/** Results of `calls`, one each and first in the message, then what else the user says. */
function answered(calls, blocks) {
  const resultOf = ({ id }) =>
    blocks.find((block) => isResult(block) && block.id === id) ??
    { type: "tool_result", id, content: NO_RESULT, is_error: true };
  return [...calls.map(resultOf), ...blocks.filter((block) => !isResult(block))];
}

/** Every call gets exactly one result in the next message, and no other result stays. */
function paired(messages) {
  const list = [];
  let open = [];
  for (const { side, blocks } of messages) {
    list.push({ side, blocks: side === "user" ? answered(open, blocks) : blocks });
    open = side === "user" ? [] : callsOf(blocks);
  }
  if (open.length > 0) list.push({ side: "user", blocks: answered(open, []) });
  return list;
}

/** Pairing may empty a message, and an empty one at the start uncovers an assistant's: again. */
function mended(messages) {
  const list = merged(paired(merged(messages)));
  return JSON.stringify(list) === JSON.stringify(messages) ? list : mended(list);
}

/** What the API gets: alternating sides, each call answered once, nothing blank, user first. */
export function project(rows) {
  const messages = mended(rows.map(cleaned));
  return messages.map(({ side, blocks }) => ({ role: side, content: blocks.map(toWire) }));
}
