// When a turn gets nowhere: the counters of one turn, and the sentences that go with them. Pure.
//
// A stop needs evidence that repeating is useless. A call whose result changes is progress and is
// left alone; a tool that needs no argument may be called without one.

export const EMPTY_LIMIT = 3; // messages with an empty call, one after the other
export const SAME_CALL_LIMIT = 3; // same tool, same arguments, same result
export const SAME_ERROR_LIMIT = 4; // same tool, same error, whatever the arguments

/** JSON with sorted keys: the order in which a model writes its arguments means nothing. */
export function canonical(value) {
  const sorted = (_, v) =>
    v && typeof v === "object" && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v;
  return JSON.stringify(value, sorted);
}

const isEmpty = (input) => Object.keys(input ?? {}).length === 0;

/** Counts how often in a row a key was seen with the same value. */
class Streaks {
  #seen = new Map();

  add(key, value) {
    const last = this.#seen.get(key);
    this.#seen.set(key, { value, count: last?.value === value ? last.count + 1 : 1 });
  }

  count(key) {
    return this.#seen.get(key)?.count ?? 0;
  }
}

export class Guards {
  #required; // tool name -> names of the parameters that it cannot do without
  #emptyMessages = 0;
  #failures = new Map(); // tool name -> {calls, errors}; gone when that tool succeeds
  #last = { key: "", value: "", count: 0 }; // the last call of all, for successes that repeat

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
    const hasEmpty = calls.some((call) => this.lacksArguments(call));
    this.#emptyMessages = hasEmpty ? this.#emptyMessages + 1 : 0;
  }

  /** Why `call` must not run and the turn must end; null when it may run. */
  whyStop(call) {
    const { name } = call;
    const key = `${name} ${canonical(call.input)}`;
    const failures = this.#failures.get(name);
    if (this.#emptyMessages >= EMPTY_LIMIT)
      return `${this.#emptyMessages} messages in a row had a call without its arguments`;
    if (failures?.calls.count(key) >= SAME_CALL_LIMIT)
      return `the same call of ${name} has failed ${SAME_CALL_LIMIT} times in the same way`;
    if (failures?.errors.count(name) >= SAME_ERROR_LIMIT)
      return `${name} has failed ${SAME_ERROR_LIMIT} times with the same error`;
    if (this.#last.key === key && this.#last.count >= SAME_CALL_LIMIT)
      return `the same call of ${name} has brought the same result ${SAME_CALL_LIMIT} times`;
    return null;
  }

  record(call, result) {
    const key = `${call.name} ${canonical(call.input)}`;
    const value = canonical([result.content, result.is_error]);
    const repeats = this.#last.key === key && this.#last.value === value;
    this.#last = { key, value, count: repeats ? this.#last.count + 1 : 1 };
    if (result.is_error) this.#recordFailure(call.name, key, value);
    else this.#failures.delete(call.name);
  }

  #recordFailure(name, key, value) {
    const failures = this.#failures.get(name) ?? { calls: new Streaks(), errors: new Streaks() };
    failures.calls.add(key, value);
    failures.errors.add(name, value);
    this.#failures.set(name, failures);
  }
}
