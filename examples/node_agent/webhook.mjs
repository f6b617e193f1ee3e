// Messages that are pushed: a webhook puts each on disk, and one worker answers them in order.
//
// A message is accepted by the status 204, so it is on disk before. What no answer says accepted is
// offered again, here or to the next life of this program: a message that is known is accepted again.

import * as fs from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

import { appendLine, readLines } from "./store.mjs";

const nameOf = ({ session, id }) => JSON.stringify([session, id]);

/** The messages that came and were not answered yet, in order, as they lie on disk. */
class Waiting {
  constructor(folder) {
    this.path = join(folder, "waiting.jsonl");
    this.messages = readLines(this.path);
    this.known = new Set(this.messages.filter((row) => row.text != null).map(nameOf));
    const done = new Set(this.messages.filter((row) => row.done).map(nameOf));
    this.messages = this.messages.filter((row) => !row.done && !done.has(nameOf(row)));
  }

  put(message) {
    if (this.known.has(nameOf(message))) return;
    appendLine(this.path, message);
    this.known.add(nameOf(message));
    this.messages.push(message);
  }

  /** After a crash before this line the message is answered again; the careful agent knows it. */
  drop({ session, id }) {
    appendLine(this.path, { session, id, done: true });
    this.messages.shift();
  }
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString("utf8"));
}

/** Yields `{id, session, kind, text, at_ms, attempt}` until the harness says that there is no more. */
export async function* webhook(inboxUrl = process.env.HARNESS_INBOX_URL) {
  const waiting = new Waiting(process.env.HARNESS_SESSION_DIR ?? ".");
  let isOver = false;
  let wake = () => {};
  const server = createServer(async (request, response) => {
    try {
      const message = await bodyOf(request);
      if (message.kind === "end") isOver = true;
      else waiting.put(message);
      response.writeHead(204).end();
    } catch (error) {
      console.error(`webhook: ${error.message}`);
      response.writeHead(500).end(); // not kept: it is offered again
    }
    wake();
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const url = `http://127.0.0.1:${server.address().port}/messages`;
  const headers = { "content-type": "application/json" };
  const asked = { method: "POST", headers, body: JSON.stringify({ url }) };
  const answer = await fetch(`${inboxUrl}/webhook`, asked);
  if (!answer.ok) throw new Error(`the webhook was refused: ${await answer.text()}`);
  while (!isOver || waiting.messages.length > 0) {
    if (waiting.messages.length === 0) {
      await new Promise((news) => {
        wake = news;
      });
      continue;
    }
    yield waiting.messages[0];
    waiting.drop(waiting.messages[0]);
  }
  server.close();
}
