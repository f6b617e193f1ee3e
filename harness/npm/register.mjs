// For clients that are made at import: the URL is in the environment before any test module loads.
// `node --import loop-harness/register --test`, or `setupFiles: ["loop-harness/register"]` of vitest.
import { begin } from "loop-harness";

await begin();
