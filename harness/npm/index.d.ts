/** Settings of a fake model, with the names of `FakeModel` in Python. */
export interface Settings {
  /** The name in messages. */
  name?: string;
  /** The provider: `anthropic`, `openai-chat`, `openai-responses` or `gemini`. By default the first request chooses it. */
  wire?: string;
  /** How strict the provider is; only with `wire`. */
  dialect?: string;
  /** The window of the context, in tokens. */
  window_tokens?: number;
  /** How many requests end an endless loop, with a finding. */
  model_calls?: number;
  seed?: number;
  /** Settings of checks: `{ retry_budget: { ... } }`. */
  checks?: Record<string, Record<string, unknown>>;
  /** The least class of a finding that fails. */
  fail_on?: "defect" | "weakness" | "advice";
}

/** A call that the request does not offer, or whose input breaks the schema, fails unless it is meant. */
export interface CallSettings {
  unoffered?: boolean;
}

export interface FailSettings {
  /** A header, in seconds. */
  retry_after?: number;
  message?: string;
  type?: string;
}

export interface ToolUse {
  id: string;
  name: string;
  input: unknown;
}

export interface ToolResult {
  id: string;
  text: string;
  is_error: boolean;
}

/** A message of a request, in one form for all providers. */
export interface Message {
  role: string;
  text: string;
  tool_uses: ToolUse[];
  tool_results: ToolResult[];
}

/** A request that the model got. `tools` are the offered names; `status` is null before the response. */
export interface Request {
  model: string;
  system: string;
  tools: string[];
  stream: boolean;
  status: number | null;
  messages: Message[];
}

export interface Verdict {
  verdict: "pass";
  requests: number;
}

/** A scripted model: it plays answers and faults in the order of the lines. */
export class FakeModel implements AsyncDisposable {
  constructor(settings?: Settings);
  /** The URL of the server, after `serve`. */
  readonly url: string;
  /** The variables that the clients of the SDKs read, after `serve`. */
  readonly env: Record<string, string>;
  says(text: string): this;
  thinks(text: string): this;
  calls(tool: string, input?: unknown, settings?: CallSettings): this;
  /** One more call in the same answer. */
  alsoCalls(tool: string, input?: unknown, settings?: CallSettings): this;
  /** The lines after this one answer requests that have the text. */
  when(text: string): this;
  /** The stop reason of the last answer: `max_tokens`, `refusal`. */
  stops(reason: string): this;
  /** Refuse the next request with a status, in the provider's form. */
  fails(status?: number, settings?: FailSettings): this;
  /** Spoil the next answer by a fault, such as `sse.ends_early`. */
  fault(kind: string, settings?: Record<string, unknown>): this;
  /** Repeat the last answer or fault. */
  times(number: number | "forever"): this;
  /** A turn of a scenario, as a value. */
  turn(turn: Record<string, unknown>, settings?: CallSettings): this;
  /** Play a recording in place of a script. */
  cassette(file: string): this;
  /** Serve the model for the block, with the environment naming it, and verify at its end. */
  serve<T>(block: (env: Record<string, string>) => T | Promise<T>): Promise<T>;
  /** Serve the model until `verify` or `close`. */
  serve(): Promise<Record<string, string>>;
  /** The requests so far, in order; also after the end. */
  requests(): Promise<Request[]>;
  /** Write the test as a scenario, after its last request and before the end; the value is the file. */
  save(file: string): Promise<string>;
  /** Judge the requests, and serve no more. Rejects with NotAsScripted unless all is as scripted. */
  verify(): Promise<Verdict>;
  /** Serve no more, and judge nothing. */
  close(): Promise<void>;
  /** `await using model = fakeModel()` verifies at the end of the block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Make a fake model. */
export function fakeModel(settings?: Settings): FakeModel;

/** Start the server, and name it to the SDKs for as long as this process lives. */
export function begin(): Promise<{ url: string; env: Record<string, string> }>;

/** The requests differ from the script, or there is a finding; the text names it. */
export class NotAsScripted extends Error {}

/** A line or a setting that cannot be used, or a server that is not there. */
export class HarnessError extends Error {}
