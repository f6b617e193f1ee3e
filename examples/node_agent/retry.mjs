// Asking again when that can help: busy servers and lost connections, a few times, with a pause.
//
// What the server calls wrong stays wrong, so it is not sent again. A server that asks for a longer
// pause than we can keep is not asked sooner: the caller reports it and the user decides.

import { setTimeout as sleep } from "node:timers/promises";

import { ModelError } from "./anthropic.mjs";

const BASE_S = 0.5;
const LONGEST_WAIT_S = 5;

/** Seconds before the next attempt, or null when there must be none. */
export function pauseAfter(error, attempt) {
  if (!(error instanceof ModelError) || error.overflow || attempt >= error.attempts) return null;
  const pauseS = error.retryAfterS ?? BASE_S * 2 ** (attempt - 1);
  return pauseS > LONGEST_WAIT_S ? null : pauseS;
}

/** The value of `request()`, tried again as long as `pauseAfter` allows. */
export async function withRetries(request) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      const pauseS = pauseAfter(error, attempt);
      if (pauseS === null) throw error;
      await sleep(pauseS * 1000);
    }
  }
}
