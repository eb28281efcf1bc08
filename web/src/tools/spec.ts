// The definition of a tool's card.
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { Task } from '../api/types';
import type { ToolCall } from '../chat/parts';
import { t } from '../i18n';

export interface BodyProps {
  output: Record<string, unknown>;
  input: unknown;
  /** From an earlier visit: its data about the library may be outdated. */
  old?: boolean;
}

export interface CardSpec {
  icon: LucideIcon;
  /** The title for users: while the call runs, and after it has ended. */
  title: (input: unknown, running: boolean) => string;
  /** The title does not contain the number of results, so the line shows it. */
  counts?: boolean;
  /** The words after the title of a call that has ended, where the number of results does not say it. */
  outcome?: (call: ToolCall) => string;
  /** The lists that the tool changes: they are read again after a call. */
  changes?: readonly ('tasks' | 'playlists')[];
  /** The results are not part of the answer: the card is closed until the user opens it. */
  staysClosed?: boolean;
  /** The tasks in a result. Only for tools of the to-do list. */
  tasks?: (output: Record<string, unknown>) => Task[];
  Body: ComponentType<BodyProps>;
}

/** A field of an input that is not validated yet: models send any value. */
export function field(input: unknown, name: string): string {
  const value = (input as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value.trim() : '';
}

export function quoted(words: string): string {
  return t("'{words}'", { words: words.length > 90 ? `${words.slice(0, 88).trimEnd()}…` : words });
}
