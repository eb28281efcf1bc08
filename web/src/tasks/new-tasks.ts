// Written words as tasks: several lines are several tasks, and words too long for a title go on in the description.

export const LONGEST_TITLE = 200;
export const LONGEST_TEXT = 2_000;

export interface Words {
  title: string;
  description?: string;
}

/** `- [ ] milk`, `* milk`, `1. milk` and `milk` are the same task. */
const MARK = /^\s*(?:[-*+•]|\d{1,3}[.)])?\s*(?:\[[ xX]?\]\s*)?/;

export function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(MARK, '').trim())
    .filter((line) => line !== '');
}

export function asTask(line: string): Words {
  if (line.length <= LONGEST_TITLE) return { title: line };
  const space = line.lastIndexOf(' ', LONGEST_TITLE - 1);
  const cut = space > LONGEST_TITLE / 2 ? space : LONGEST_TITLE - 1;
  // The whole text again, so that an address cut in two can still be followed.
  return { title: `${line.slice(0, cut).trimEnd()}…`, description: line };
}
