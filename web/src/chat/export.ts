// A conversation to take away: as Markdown for people, as JSON for programs.
import type { OpenConversation } from '../api/types';
import { tracksOf } from './found';
import { fromStored, type ChatMessage, type Part } from './reduce';

export function messageMarkdown(message: ChatMessage): string {
  return message.parts.map(partMarkdown).filter(Boolean).join('\n\n');
}

export function conversationMarkdown(conversation: OpenConversation): string {
  const messages = conversation.messages.map(fromStored).map((message) => {
    const who = message.role === 'user' ? 'You' : 'Segue';
    return `## ${who}${message.at ? `, ${message.at.slice(0, 16).replace('T', ' ')} UTC` : ''}\n\n${messageMarkdown(message)}`;
  });
  return [`# ${conversation.title}`, ...messages].join('\n\n') + '\n';
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
