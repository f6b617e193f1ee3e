// JSON for the wire and the disk. Half a surrogate pair (a cut emoji) is legal in JavaScript only:
// the API refuses the whole request, and it would again on every later turn.

const wellFormed = (value) =>
  typeof value === "string" ? value.replace(/\p{Cs}/gu, "\ufffd") : value;

/** JSON text in which every string is valid Unicode. */
export const encode = (value) => JSON.stringify(value, (_, v) => wellFormed(v));
