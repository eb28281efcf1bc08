import { describe, expect, it } from 'vitest';
import { isNameHref } from './mentions';
import { namesIn } from './names';
import { RECORDINGS } from './recorded';
import { emptyChat, reduce, type ChatMessage } from './reduce';

const live = (name: string): ChatMessage =>
  RECORDINGS[name]!.frames.reduce((state, frame) => reduce(state, { type: 'frame', frame }), emptyChat('discover')).messages[0]!;

type Output = Record<string, unknown>;
const answer = (...calls: [string, Output][]): ChatMessage => ({
  id: 'm',
  role: 'assistant',
  status: 'complete',
  parts: calls.map(([name, output], at) => ({ kind: 'tool', call: { id: String(at), name, input: {}, status: 'done', output } })),
});
const hrefs = (message: ChatMessage, name: string) =>
  namesIn([message])
    .get(name)
    ?.map(({ href }) => href);

const TRACK_ID = '01a1e2b6-c3a5-7468-82d8-346b854bcd89';
const track = { title: 'Low Tide', artist: 'Ivy Marlow', album: 'The Quay', isrc: '', trackId: TRACK_ID, inLibrary: true };

describe('names that a text may mention', () => {
  it('are tracks by their code', () => {
    expect(hrefs(live('discover'), 'Harbour Lights')?.[0]).toMatch(/^#track-[A-Z0-9]{12}$/);
  });

  it('are tracks without a code by their own id, and artists and albums of the library', () => {
    const message = answer(['semanticSearch', { tracks: [track] }]);
    expect(hrefs(message, 'Low Tide')).toEqual([`#track-${TRACK_ID}`]);
    expect(hrefs(message, 'Ivy Marlow')).toEqual(['#artist-Ivy%20Marlow']);
    expect(hrefs(message, 'The Quay')).toEqual(['#album-The%20Quay&by=Ivy%20Marlow']);
    expect([...namesIn([message]).values()].flat().every(({ href }) => isNameHref(href))).toBe(true);
    const notOwned = answer(['semanticSearch', { tracks: [{ ...track, inLibrary: false }] }]);
    expect([...namesIn([notOwned]).keys()], 'there would be nothing to see').toEqual(['Low Tide']);
  });

  it('are albums of the catalogue by their id', () => {
    const album = { id: '2002', title: 'The Long Ledger', artist: 'Ivy Marlow', inLibrary: false, trackCount: 46 };
    expect(hrefs(answer(['tidalSearch', { albums: [album] }]), 'The Long Ledger')).toEqual(['#album-2002']);
    const opened = { albumId: '2001', albumTitle: 'Low Tide', artist: 'Ivy Marlow', tracks: [track] };
    expect(hrefs(answer(['albumTracks', opened]), 'Low Tide')).toEqual([`#track-${TRACK_ID}`, '#album-2001']);
  });

  it('are tasks that were not deleted', () => {
    const [milk, mum] = ['milk', 'mum'].map((title, at) => ({ id: `${at}${TRACK_ID.slice(1)}`, title, completed: false }));
    const listed: [string, Output] = ['list_tasks', { tasks: [milk, mum] }];
    expect(hrefs(answer(listed), 'mum')).toEqual([`#task-${mum!.id}`]);
    const after = answer(listed, ['delete_task', { task_id: milk!.id, title: 'milk' }]);
    expect([...namesIn([after]).keys()]).toEqual(['mum']);
    expect(hrefs(live('tasks'), 'Call the venue')?.[0]).toMatch(/^#task-[\da-f-]{36}$/);
  });

  it('are not what tools of others call tasks or albums', () => {
    const message = answer(['post__list', { tasks: [{ id: '1', title: 'A task' }], albums: [{ id: '1', title: 'An album' }] }]);
    expect(namesIn([message]).size).toBe(0);
  });
});
