// What two requests differ in: lists of messages by their places, texts by their words.

const DIFF_MAX = 250000;

/**
 * The steps from one list to another: `[sign, item]`, sign one of `=`, `-`, `+`.
 * Of two lists that are too long to compare, all of one goes and all of the other comes.
 */
function steps(before, after) {
  let head = 0, tail = 0;
  while (head < before.length && before[head] === after[head]) head += 1;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const a = before.slice(head, before.length - tail), b = after.slice(head, after.length - tail);
  const same = (items) => items.map((item) => ["=", item]);
  return [
    ...same(before.slice(0, head)), ...middle(a, b), ...same(tail ? before.slice(-tail) : []),
  ];
}

/** The longest common subsequence of two lists that begin and end differently. */
function middle(a, b) {
  const out = [...a.map((item) => ["-", item]), ...b.map((item) => ["+", item])];
  if (!a.length || !b.length || a.length * b.length > DIFF_MAX) return out;
  const width = b.length + 1, sizes = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      sizes[i * width + j] = a[i] === b[j] ? sizes[(i + 1) * width + j + 1] + 1
        : Math.max(sizes[(i + 1) * width + j], sizes[i * width + j + 1]);
    }
  }
  const made = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { made.push(["=", a[i]]); i += 1; j += 1; }
    else if (j >= b.length || (i < a.length && sizes[(i + 1) * width + j] >= sizes[i * width + j + 1])) {
      made.push(["-", a[i]]); i += 1;
    } else { made.push(["+", b[j]]); j += 1; }
  }
  return made;
}

/** Two texts as one, with what went and what came marked word by word. */
function wordDiff(before, after) {
  const cut = (text) => text.split(/(\s+|[^\p{L}\p{N}_])/u).filter(Boolean);
  const made = h("pre.text", {});
  let run = ["", ""];
  const flush = () => {
    if (run[1]) add(made, run[0] === "=" ? run[1] : h(run[0] === "+" ? "ins" : "del", {}, run[1]));
  };
  for (const [sign, word] of steps(cut(before), cut(after))) {
    if (sign !== run[0]) { flush(); run = [sign, ""]; }
    run[1] += word;
  }
  flush();
  return made;
}

/** How much two texts have in common at both ends: 1 for equal ones. */
function likeness(a, b) {
  const most = Math.min(a.length, b.length), all = Math.max(a.length, b.length) || 1;
  let head = 0, tail = 0;
  while (head < most && a[head] === b[head]) head += 1;
  while (tail < most - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  return (head + tail) / all;
}
