// What a card must say about its tool.
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';

export interface BodyProps {
  output: Record<string, unknown>;
  input: unknown;
  /** From an earlier visit: what it says about the library may no longer be true. */
  old?: boolean;
}

export interface CardSpec {
  icon: LucideIcon;
  /** In people's words: while it runs, and once it is over. */
  title: (input: unknown, running: boolean) => string;
  /** The title does not say how many there are, so the line does. */
  counts?: boolean;
  Body: ComponentType<BodyProps>;
}

/** A field of an input that nobody has validated yet: models send anything. */
export function field(input: unknown, name: string): string {
  const value = (input as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value.trim() : '';
}

export function quoted(words: string): string {
  return words.length > 90 ? `'${words.slice(0, 88).trimEnd()}…'` : `'${words}'`;
}
