// The naive agent: short, plausible, and wrong in the ways that production has shown.
//
// Kept to be caught. It has no breaker, runs calls whose arguments got lost, compacts again and
// again, sends a flawed history as it is, repeats refused requests, forgets a turn that a crash
// cuts short, and calls every end a success. Do not copy from this file.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { postMessages, requestBody } from "./anthropic.mjs";
import { callsOf, textBlock, textOf, toWire } from "./blocks.mjs";
import { callTool, deliver, listTools } from "./seams.mjs";

const RESENDS = 2;
const COMPACTIONS = 10;
const folder = process.env.HARNESS_SESSION_DIR ?? ".";

function load(name) {
  const path = join(folder, name);
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  return lines.filter(Boolean).map((line) => JSON.parse(line));
}

const onWire = (rows) => rows.map(({ role, blocks }) => ({ role, content: blocks.map(toWire) }));

async function send(body, purpose) {
  for (let resent = 0; ; resent += 1) {
    try {
      return await postMessages(body, purpose);
    } catch (error) {
      if (error.overflow || resent >= RESENDS) throw error; // no pause, whatever the error says
    }
  }
}

/** A summary of everything, asked with everything: too long again, and nobody looks at it. */
async function compact(rows, options) {
  const request = [...rows, { role: "user", blocks: [textBlock("Summarise this conversation.")] }];
  const reply = await send(requestBody(options, onWire(request)), "compact").catch(() => null);
  return reply ? [{ role: "user", blocks: reply.blocks }, rows.at(-1)] : rows;
}

async function ask(turn, tools, options) {
  for (let compactions = 0; ; compactions += 1) {
    try {
      return await send(requestBody(options, onWire(turn.rows), tools), "main");
    } catch (error) {
      if (!error.overflow || compactions >= COMPACTIONS) throw error;
      turn.rows = await compact(turn.rows, options);
    }
  }
}

async function runTurn(turn, options) {
  const tools = await listTools();
  const add = (row) => [turn.rows, turn.added].forEach((list) => list.push(row));
  for (;;) {
    const reply = await ask(turn, tools, options);
    add({ role: "assistant", blocks: reply.blocks });
    const calls = callsOf(reply.blocks);
    if (calls.length === 0) return textOf(reply.blocks);
    const results = [];
    for (const call of calls) {
      results.push({ type: "tool_result", id: call.id, ...(await callTool(call)) });
    }
    add({ role: "user", blocks: results });
  }
}

/** Answers one inbound message. */
export async function answer({ session, id, text }, options) {
  const inbound = { role: "user", blocks: [textBlock(text ?? "")] };
  const rows = [...load("seed.jsonl"), ...load("session.jsonl"), inbound];
  const turn = { rows, added: [inbound] };
  const reply = await runTurn(turn, options).catch((error) => `Sorry: ${error.message}`);
  await deliver({ session, in_reply_to: id, kind: "final", text: reply, status: "ok" });
  for (const row of turn.added) {
    appendFileSync(join(folder, "session.jsonl"), `${JSON.stringify(row)}\n`);
  }
}
