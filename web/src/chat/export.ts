// Answers as Markdown, and files that the page hands to the browser.
import { tracksOf } from './found';
import type { ChatMessage, Part } from './reduce';

export function messageMarkdown(message: ChatMessage): string {
  return message.parts.map(partMarkdown).filter(Boolean).join('\n\n');
}

function partMarkdown(part: Part): string {
  if (part.kind === 'text') return part.text.trim();
  const { call } = part;
  if (call.error) return `*${call.name}: ${call.error.message}*`;
  const tracks = tracksOf(call).map(
    (track, row) => `${row + 1}. **${track.title}** — ${track.artist}${track.album ? ` (${track.album})` : ''}`,
  );
  return [`*${call.summary ?? call.name}*`, ...(tracks.length > 0 ? [tracks.join('\n')] : [])].join('\n\n');
}

/** Nothing is uploaded: the file is made here. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Not at once: the browser reads the address after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Letters, digits and spaces of any script; file systems dislike the rest. */
export function fileName(title: string, extension: string): string {
  const plain = title
    .replace(/[^\p{L}\p{N} _-]+/gu, '')
    .trim()
    .slice(0, 80);
  return `${plain || 'conversation'}.${extension}`;
}
