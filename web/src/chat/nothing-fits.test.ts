import { describe, expect, it } from 'vitest';
import type { SemanticSearchOutput } from '../api/types';
import { emptySearch } from './found';
import { nearQuestions, widerSearches } from './nothing-fits';
import type { ToolCall } from './parts';
import type { ChatMessage } from './reduce';

const output = (more: Partial<SemanticSearchOutput>): SemanticSearchOutput => ({
  applied: [],
  durationMs: 1,
  query: '',
  summary: '',
  totalFound: 0,
  tracks: [],
  ...more,
});

const call = (more: Partial<ToolCall>): ToolCall => ({ id: '1', name: 'semanticSearch', input: {}, status: 'done', ...more });
const answer = (...calls: ToolCall[]): ChatMessage => ({
  id: 'm',
  role: 'assistant',
  status: 'complete',
  parts: calls.map((one) => ({ kind: 'tool', call: one })),
});

describe('a search that found nothing', () => {
  it('is the last call of an answer that has nothing else to show', () => {
    const empty = call({ id: '2' });
    const full = call({ output: { tracks: [{ title: 'Low Tide' }] } });
    expect(emptySearch(answer(empty))).toBe(empty);
    expect(emptySearch(answer(full, empty))).toBeNull();
    expect(emptySearch(answer(full))).toBeNull();
    expect(emptySearch(answer(call({ status: 'failed' })))).toBeNull();
    expect(emptySearch(answer(call({ name: 'tidalSearch' })))).toBeNull();
    expect(emptySearch(answer())).toBeNull();
  });

  it('is asked again without each of its limits, in the words of the person', () => {
    const applied: SemanticSearchOutput['applied'] = [
      { kind: 'years', label: '1920–1929', text: 'from the 1920s' },
      { kind: 'without', label: 'without drums', text: 'without drums' },
      { kind: 'sound', label: 'calm', text: 'calm' },
    ];
    const words = 'calm songs from the 1920s without drums';
    expect(widerSearches(words, output({ query: words, applied }))).toEqual([
      { text: 'calm songs without drums', without: '1920–1929' },
      { text: 'calm songs from the 1920s', without: 'without drums' },
    ]);
    const only: SemanticSearchOutput['applied'] = [{ kind: 'years', label: '1920–1929', text: 'from the 1920s' }];
    expect(
      widerSearches('from the 1920s', output({ query: 'from the 1920s', applied: only })),
      'nothing would be left to look for',
    ).toEqual([]);
  });

  it('leads to what comes nearest', () => {
    const track = (title: string) => ({ title }) as NonNullable<SemanticSearchOutput['nearest']>[number];
    expect(nearQuestions(output({}))).toEqual([]);
    expect(nearQuestions(output({ nearest: [track('Low Tide'), track('Sodium')] }))).toEqual([
      'More like “Low Tide”',
      'Tell me about “Sodium”',
    ]);
  });
});
