// A fake model for tests in Node. The Python server behind it is the only implementation of the
// providers' wires; this file scripts it, over lines of JSON on the pipes of a child process.
"use strict";

const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const path = require("node:path");

const PROTOCOL = 1;
const IS_WINDOWS = process.platform === "win32";
const MISSING = "loop-harness for Python was not found: `pip install loop-harness` in .venv or on the PATH, "
  + "or name its command in HARNESS_COMMAND, such as HARNESS_COMMAND='uv run harness'";

/** The requests differ from the script, or there is a finding; the text names it. */
class NotAsScripted extends Error {
  name = "NotAsScripted";
}

/** A line or a setting that cannot be used, or a server that is not there. */
class HarnessError extends Error {
  name = "HarnessError";
}

/** The command of the harness: the user's own, else that of the nearest .venv, else that of the PATH. */
function command() {
  if (process.env.HARNESS_COMMAND) return process.env.HARNESS_COMMAND.trim().split(/\s+/);
  const place = IS_WINDOWS ? [".venv", "Scripts", "harness.exe"] : [".venv", "bin", "harness"];
  for (let folder = process.cwd(), above = ""; folder !== above; above = folder, folder = path.dirname(folder)) {
    const found = path.join(folder, ...place);
    if (existsSync(found)) return [found];
  }
  return ["harness"];
}

/** The process of the harness: it answers one line with one line, and ends with this process. */
class Server {
  #waiting = new Map();
  #last = 0;
  #child;
  #rest = "";
  #begun;

  constructor() {
    const [name, ...words] = command();
    this.#child = spawn(name, [...words, "model"], { stdio: ["pipe", "pipe", "inherit"] });
    this.ready = new Promise((resolve, reject) => { this.#begun = { resolve, reject }; });
    this.ready.catch(() => {}); // who asks for it is told
    this.#child.on("error", (error) => this.#end(error.code === "ENOENT" ? MISSING : error.message));
    this.#child.on("exit", (status) => this.#end(`the harness ended with status ${status}; see what it printed`));
    this.#child.stdin.on("error", () => {}); // its end is told by "exit"
    this.#child.stdout.setEncoding("utf8");
    this.#child.stdout.on("data", (text) => this.#read(text));
  }

  /** An idle server does not keep this process alive: its end closes the pipe, and that ends the server. */
  #idle() {
    this.#child.unref();
    this.#child.stdin.unref();
    this.#child.stdout.unref();
  }

  #busy() {
    this.#child.ref();
    this.#child.stdout.ref();
  }

  #end(text) {
    const error = new HarnessError(text);
    this.#begun.reject(error);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    if (server === this) server = undefined;
  }

  #read(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) this.#take(JSON.parse(line));
    // A pipe may bring half a line first: until a whole one came, this process has to wait for it.
    if (lines.length && !this.#waiting.size) this.#idle();
  }

  #take(said) {
    if (said.protocol !== undefined) {
      if (said.protocol === PROTOCOL) return this.#begun.resolve(said);
      return this.#end(`this package speaks version ${PROTOCOL} of the protocol, and loop-harness ${said.version} for `
        + `Python speaks ${said.protocol}: install the package of that version`);
    }
    const { resolve, reject } = this.#waiting.get(said.id) ?? {};
    this.#waiting.delete(said.id);
    for (const warning of said.warnings ?? []) console.warn(`loop-harness: ${warning}`);
    if (said.error === undefined) return resolve?.(said.value ?? null);
    reject?.(said.kind === "finding" ? new NotAsScripted(said.error) : new HarnessError(said.error));
  }

  async ask(does, fields) {
    await this.ready;
    const id = ++this.#last;
    this.#busy();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ id, do: does, ...fields })}\n`);
    });
  }
}

let server;
let models = 0;

/** Set variables of the environment; the value puts the earlier ones back. */
function setEnvironment(named) {
  const before = Object.keys(named).map((name) => [name, process.env[name]]);
  Object.assign(process.env, named);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

/** Start the server, and name it to all SDKs for as long as this process lives. */
async function begin() {
  server ??= new Server();
  const { url, env } = await server.ready;
  setEnvironment(env);
  return { url, env };
}

class FakeModel {
  #id = String(++models);
  #settings;
  #lines = [];
  #server;
  #restore = () => {};
  #asked;

  constructor(settings = {}) {
    this.#settings = settings;
  }

  says(text) { return this.#line("says", [text]); }
  thinks(text) { return this.#line("thinks", [text]); }
  calls(tool, input = {}, settings) { return this.#line("calls", [tool, input], settings); }
  alsoCalls(tool, input = {}, settings) { return this.#line("also_calls", [tool, input], settings); }
  when(text) { return this.#line("when", [text]); }
  stops(reason) { return this.#line("stops", [reason]); }
  fails(status = 529, settings) { return this.#line("fails", [status], settings); }
  fault(kind, settings) { return this.#line("fault", [kind], settings); }
  times(number) { return this.#line("times", [number]); }
  cassette(file) { return this.#line("cassette", [path.resolve(file)]); }
  turn(turn, settings) { return this.#line("turn", [turn], settings); }

  #line(line, args, settings = {}) {
    if (this.#server) throw new HarnessError("the script cannot change after serve()");
    this.#lines.push({ line, args, settings });
    return this;
  }

  async serve(block) {
    if (this.#server) throw new HarnessError("a fake model is served once: make another one");
    server ??= new Server();
    this.#server = server;
    const { name, ...settings } = this.#settings;
    const script = { model: this.#id, settings, lines: this.#lines, ...(name ? { name } : {}) };
    const { url, env } = await this.#server.ask("serve", script);
    Object.assign(this, { url, env });
    // Of several at once the first has the session's URL, and the environment: the others are asked by `url`.
    if (url === (await this.#server.ready).url) this.#restore = setEnvironment(env);
    if (block === undefined) return env;
    let value;
    try {
      value = await block(env);
    } catch (error) {
      await this.#tellFindings(error);
      throw error;
    }
    await this.verify();
    return value;
  }

  /** A test that fails by itself often fails by what a finding names, such as an illegal request. */
  async #tellFindings(error) {
    const text = await this.#server.ask("seen", { model: this.#id });
    await this.close();
    if (text && error instanceof Error) error.message += `\n\nloop-harness found, too:\n${text}`;
  }

  async requests() {
    return this.#asked ?? this.#of().ask("requests", { model: this.#id });
  }

  async save(file) {
    return this.#of().ask("save", { model: this.#id, path: path.resolve(file) });
  }

  async verify() {
    try {
      return await this.#of().ask("verify", { model: this.#id });
    } finally {
      await this.close();
    }
  }

  async close() {
    if (!this.#server || this.#asked) return;
    this.#asked = await this.#server.ask("requests", { model: this.#id });
    this.#restore();
    await this.#server.ask("end", { model: this.#id });
  }

  #of() {
    if (!this.#server || this.#asked) throw new HarnessError("this model is not served: call serve() first, and once");
    return this.#server;
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    if (this.#server && !this.#asked) await this.verify();
  }
}

/** Make a fake model; the settings are those of FakeModel in Python. */
function fakeModel(settings) {
  return new FakeModel(settings);
}

exports.FakeModel = FakeModel;
exports.HarnessError = HarnessError;
exports.NotAsScripted = NotAsScripted;
exports.begin = begin;
exports.fakeModel = fakeModel;
