// When a turn gets nowhere: the counters of one turn, and the sentences that go with them. Pure.
//
// A stop needs evidence that repeating is useless. A call whose result changes is progress and is
// left alone; a tool that needs no argument may be called without one.

export const EMPTY_LIMIT = 3; // messages with nothing but empty calls of one tool
export const SAME_CALL_LIMIT = 3; // same tool, same arguments, same result
export const SAME_ERROR_LIMIT = 3; // same tool, same error, whatever the arguments
export const ROUNDS = 3; // calls, or whole messages of calls, that go in a circle
export const PERIOD_MAX = 4; // so many in one round

/** JSON with sorted keys: the order in which a model writes its arguments means nothing. */
export function canonical(value) {
  const sorted = (_, v) =>
    v && typeof v === "object" && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v;
  return JSON.stringify(value, sorted);
}

/** An error's text without what changes by itself: times, numbers, ids. */
const fingerprint = (text) => text.replace(/0x[0-9a-f]+|[0-9a-f]{8,}|\d+/gi, "#");

/** `{}`, nothing, or only the wrapper that some clients put around arguments that were cut off. */
const isEmpty = (input) => Object.keys(input ?? {}).every((key) => key === "__unparsedToolInput");

/** Counts how often in a row a key was seen with the same value. */
class Streaks {
  #seen = new Map();

  /** `call` is what brought the value. */
  add(key, value, call) {
    const last = this.#seen.get(key);
    const { count, calls } = last?.value === value ? last : { count: 0, calls: [] };
    this.#seen.set(key, { value, count: count + 1, calls: [...calls, call] });
  }

  /** Whether one call brought it each time, and `call` is another: worth one try. */
  isChangedBy(key, call) {
    const calls = new Set(this.#seen.get(key)?.calls);
    return calls.size === 1 && !calls.has(call);
  }

  count(key) {
    return this.#seen.get(key)?.count ?? 0;
  }
}

/** A sequence that may go in a circle: of calls, or of messages with several. */
class Rounds {
  #seen = [];

  /** `id` names a call or a message with its result; `keys` are the calls in it. */
  add(id, keys) {
    this.#seen.push({ id, keys });
  }

  /** The calls of the round that was gone ROUNDS times; none when nothing repeats. */
  get calls() {
    for (let period = 1; period <= PERIOD_MAX; period += 1) {
      const tail = this.#seen.slice(-period * ROUNDS);
      const repeats = tail.every(({ id }, n) => id === tail[n % period].id);
      if (tail.length === period * ROUNDS && repeats)
        return tail.slice(0, period).flatMap(({ keys }) => keys);
    }
    return [];
  }
}

export class Guards {
  #required; // tool name -> names of the parameters that it cannot do without
  #empty = new Map(); // tool name -> messages that called it empty, since one that did not
  #failures = new Map(); // tool name -> {calls, errors}; gone when that tool succeeds
  #single = new Rounds(); // call after call
  #messages = new Rounds(); // message after message, whatever the order in one
  #message = []; // what the message that is being carried out has done so far

  constructor(tools) {
    this.#required = new Map(tools.map(({ name, input_schema: s }) => [name, s?.required ?? []]));
  }

  knows(name) {
    return this.#required.has(name);
  }

  lacksArguments({ name, input }) {
    return isEmpty(input) && (this.#required.get(name) ?? []).length > 0;
  }

  /** Told to the model in place of running an empty call, so that it can do better. */
  guidance({ name }) {
    const names = this.#required.get(name).join(", ");
    return (
      `missing required arguments of ${name}: ${names}; nothing was executed; ` +
      "send the arguments again, in smaller pieces if they were cut"
    );
  }

  /** To be told of every message with calls, before any of them: one empty message counts once. */
  startMessage(calls) {
    for (const name of new Set(calls.map((call) => call.name))) {
      const isUseless = calls.every((call) => call.name !== name || this.lacksArguments(call));
      this.#empty.set(name, isUseless ? (this.#empty.get(name) ?? 0) + 1 : 0);
    }
    const ids = this.#message.map(({ id }) => id).sort();
    if (ids.length > 0) this.#messages.add(canonical(ids), this.#message.map(({ key }) => key));
    this.#message = [];
  }

  /** Why `call` must not run and the turn must end; null when it may run. */
  whyStop(call) {
    const { name } = call;
    const key = `${name} ${canonical(call.input)}`;
    const failures = this.#failures.get(name);
    if (this.#empty.get(name) >= EMPTY_LIMIT)
      return `${this.#empty.get(name)} messages called ${name} without its arguments`;
    if (failures?.calls.count(key) >= SAME_CALL_LIMIT)
      return `the same call of ${name} has failed ${SAME_CALL_LIMIT} times in the same way`;
    if (failures?.errors.count(name) >= SAME_ERROR_LIMIT && !failures.errors.isChangedBy(name, key))
      return `${name} has failed ${SAME_ERROR_LIMIT} times with the same error`;
    if ([...this.#single.calls, ...this.#messages.calls].includes(key))
      return `the same calls, ${name} among them, have brought the same results ${ROUNDS} times`;
    return null;
  }

  record(call, result) {
    const key = `${call.name} ${canonical(call.input)}`;
    const value = canonical([result.content, result.is_error]);
    const id = `${key} ${value}`;
    this.#single.add(id, [key]);
    this.#message.push({ id, key });
    if (result.is_error) this.#recordFailure(call.name, key, value);
    else this.#failures.delete(call.name);
  }

  #recordFailure(name, key, value) {
    const failures = this.#failures.get(name) ?? { calls: new Streaks(), errors: new Streaks() };
    failures.calls.add(key, fingerprint(value), key);
    failures.errors.add(name, value, key);
    this.#failures.set(name, failures);
  }
}
