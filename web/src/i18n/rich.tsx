// A text with elements in it: `rich('Allow {tool}?', { tool: <b>…</b> })`. The language decides where they stand.
import { Fragment, type ReactNode } from 'react';
import { template } from './index';

export function rich(text: string, values: Record<string, ReactNode>): ReactNode[] {
  return template(text)
    .split(/\{(\w+)\}/)
    .map((part, index) => <Fragment key={index}>{index % 2 === 0 ? part : values[part]}</Fragment>);
}
