// Cutting growing markdown into blocks that are finished and one that still grows, so only that one is parsed again.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const INDENTED = /^(?: {2,}|\t)/;
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m;

/** Joined with an empty line between them, the blocks mean what the text meant. */
export function splitBlocks(text: string): string[] {
  // A link definition may be used anywhere in the text: such text stays whole.
  if (DEFINITION.test(text)) return [text];
  const blocks: string[] = [];
  let block: string[] = [];
  let fence: string | null = null;
  let blank = false;

  for (const line of text.split('\n')) {
    if (blank && fence === null && line.trim() !== '' && !continues(block, line)) {
      blocks.push(block.join('\n'));
      block = [];
    }
    fence = nextFence(fence, line);
    blank = line.trim() === '';
    if (block.length > 0 || !blank) block.push(line);
  }
  if (block.length > 0) blocks.push(block.join('\n'));
  return blocks;
}

/** After an empty line, a list goes on with its next item or with indented text. */
function continues(block: string[], line: string): boolean {
  const inList = LIST_ITEM.test(block[0] ?? '');
  return INDENTED.test(line) || (inList && LIST_ITEM.test(line));
}

function nextFence(fence: string | null, line: string): string | null {
  const mark = FENCE.exec(line)?.[1];
  if (!mark) return fence;
  if (fence === null) return mark;
  const closes = mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark;
  return closes ? null : fence;
}
