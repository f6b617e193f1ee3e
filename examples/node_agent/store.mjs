// A session on disk: `session.jsonl`, one message a line, only ever appended to.
//
// A row is `{role, blocks}`; an inbound message also has the `id` that the channel gave it, and the
// reply that ends its turn has `in_reply_to`, `kind` and `status`. Beside it lie the receipts (what
// the outbox took) and the last summary. `seed.jsonl` is the session's beginning, never written.

import * as fs from "node:fs";
import { join } from "node:path";

import { encode } from "./encode.mjs";

const USUAL_SESSIONS = new Set(["", "main", "default", "session"]);

function fileName(session) {
  const name = String(session ?? "");
  return USUAL_SESSIONS.has(name) ? "session" : encodeURIComponent(name).replaceAll(".", "%2E");
}

function sync(path) {
  const descriptor = fs.openSync(path, "r");
  fs.fsyncSync(descriptor);
  fs.closeSync(descriptor);
}

/** Appends one line; it is on the disk, folder entry included, when this returns. */
export function appendLine(path, value) {
  const isNew = !fs.existsSync(path);
  const descriptor = fs.openSync(path, "a");
  try {
    fs.appendFileSync(descriptor, `${encode(value)}\n`);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
  if (isNew) sync(join(path, ".."));
}

function parseLine(line, number, path) {
  try {
    return [JSON.parse(line)];
  } catch {
    console.error(`${path}:${number}: this row is damaged and is left out`);
    return [];
  }
}

export function readLines(path) {
  if (!fs.existsSync(path)) return [];
  const lines = fs.readFileSync(path, "utf8").split("\n");
  return lines.flatMap((line, at) => (line.trim() ? parseLine(line, at + 1, path) : []));
}

/** A last line without its end was cut by a crash before anyone relied on it: take it off. */
function dropTornTail(path) {
  if (!fs.existsSync(path)) return;
  const bytes = fs.readFileSync(path);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) fs.truncateSync(path, end);
}

/** One session as it lies on disk now; open it anew for each inbound message. */
export class Store {
  constructor(session, folder = process.env.HARNESS_SESSION_DIR ?? ".") {
    const base = join(folder, fileName(session));
    this.path = `${base}.jsonl`;
    this.receiptsPath = `${base}.delivered.jsonl`;
    this.summaryPath = `${base}.summary.json`;
    [this.path, this.receiptsPath].forEach(dropTornTail);
    this.rows = [join(folder, "seed.jsonl"), this.path].flatMap(readLines);
  }

  append(row) {
    appendLine(this.path, row);
    this.rows.push(row);
  }

  has(id) {
    return id != null && this.rows.some((row) => row.id === id);
  }

  replyTo(id) {
    return this.rows.find((row) => row.in_reply_to === id);
  }

  wasDelivered(id) {
    return readLines(this.receiptsPath).some((receipt) => receipt.id === id);
  }

  /** Not worth failing for: the reply is out, and at worst goes out once more. */
  noteDelivered(id) {
    try {
      appendLine(this.receiptsPath, { id });
    } catch (error) {
      console.error(`${this.receiptsPath}: ${error.message}`);
    }
  }

  /** `{covers, text}`: `text` stands for the first `covers` rows; null when there is none. */
  readSummary() {
    return readLines(this.summaryPath)[0] ?? null;
  }

  /** Replaced as a whole, so that a crash leaves the old summary or the new one. */
  writeSummary(summary) {
    const draft = `${this.summaryPath}.draft`;
    fs.writeFileSync(draft, `${encode(summary)}\n`);
    sync(draft);
    fs.renameSync(draft, this.summaryPath);
  }
}
