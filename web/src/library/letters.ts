// Under which letter of A–Z a name is looked for; everything else is under #.

export function letterOf(name: string): string {
  const first = name.trim().normalize('NFD').charAt(0).toUpperCase();
  return /^[A-Z]$/.test(first) ? first : '#';
}

/** The letters that names have, in their order, each with the first name under it. */
export function lettersOf(names: string[]): { letter: string; row: number }[] {
  const found = new Map<string, number>();
  names.forEach((name, row) => {
    const letter = letterOf(name);
    if (!found.has(letter)) found.set(letter, row);
  });
  return [...found].map(([letter, row]) => ({ letter, row })).toSorted((a, b) => a.letter.localeCompare(b.letter));
}
