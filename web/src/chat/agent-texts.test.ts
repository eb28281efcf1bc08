// @vitest-environment node
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { AGENT_TEXTS } from './agent-texts';

it('every text is one that the server sends', () => {
  const folder = new URL('../../../crates/app/src/agents/', import.meta.url);
  const agents = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const sent = agents.flatMap((code) =>
    [...code.matchAll(/(?:title|description|greeting|placeholder): "([^"]+)"|^ {8}"([^"]+)",$/gm)].map((found) => found[1] ?? found[2]),
  );
  expect(AGENT_TEXTS.filter((text) => !sent.includes(text))).toEqual([]);
});
