// Reasons that differ: what every one of them begins with is said once elsewhere, in the title or the question.

/** Cuts the beginning that all reasons share, up to its last colon. */
export function distinct(reasons: (string | null | undefined)[]): (string | undefined)[] {
  // A track that was added by hand has none.
  const given = reasons.filter((reason): reason is string => !!reason);
  const own = reasons.map((reason) => reason || undefined);
  if (given.length < 2) return own;
  // A reason may have nothing of its own: what all share, without the colon.
  const longest = given.reduce((a, b) => (b.length > a.length ? b : a));
  const shared = given.map((reason) => (longest.startsWith(`${reason}: `) ? `${reason}: ` : reason)).reduce(commonStart);
  const cut = shared.lastIndexOf(': ') + 2;
  if (cut < 2 || given.some((reason) => reason.length === cut)) return own;
  return own.map((reason) => reason?.slice(cut) || undefined);
}

function commonStart(a: string, b: string): string {
  let end = 0;
  while (end < a.length && a[end] === b[end]) end++;
  return a.slice(0, end);
}
