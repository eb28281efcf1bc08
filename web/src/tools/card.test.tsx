import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RECORDINGS } from '../chat/recorded';
import { emptyChat, fromStored, reduce, type ChatMessage, type ToolCall } from '../chat/reduce';
import { Message } from '../chat/message';
import { success } from '../chat/parts';
import { Sessions, SessionsContext } from '../chat/sessions';
import de from '../i18n/de.json';
import { speak } from '../i18n';
import { ToolCard } from './card';
import { whatHappened } from './words';

beforeEach(() => {
  vi.stubGlobal('fetch', async (path: string) => {
    if (path.startsWith('/api/tasks')) return Response.json({ tasks: [] });
    return Response.json({
      version: '0',
      model: { id: 'offline', offline: true },
      agents: [],
      tidal: false,
      index: { tracks: 0, embedder: '' },
      features: [],
    });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  speak('en', {});
});

const draw = (node: React.ReactNode) => {
  const queries = new QueryClient();
  return render(
    <QueryClientProvider client={queries}>
      <SessionsContext value={new Sessions(queries)}>{node}</SessionsContext>
    </QueryClientProvider>,
  );
};
const live = (name: string): ChatMessage =>
  RECORDINGS[name]!.frames.reduce((state, frame) => reduce(state, { type: 'frame', frame }), emptyChat('discover')).messages[0]!;
const call = (change: Partial<ToolCall>): ToolCall => ({
  id: 'x',
  name: 'semanticSearch',
  input: { query: 'rainy nights' },
  status: 'running',
  ...change,
});

const moved = (action: string, ...titles: string[]) => ({
  action,
  title: 'Late',
  changed: titles.map((title) => ({ title, artist: 'A', position: 3 })),
});

describe.each(Object.keys(RECORDINGS))('the recorded turn "%s"', (name) => {
  it('reads the same live and reopened', () => {
    const stored = RECORDINGS[name]!.conversation.messages.find((message) => message.role === 'assistant')!;
    const liveText = draw(<Message message={live(name)} />).container.textContent;
    cleanup();
    const reopenedText = draw(<Message message={{ ...fromStored(stored), at: undefined }} />).container.textContent;
    expect(reopenedText).toBe(liveText);
    expect(liveText).not.toBe('');
  });
});

describe('a tool card', () => {
  it.each<[string, unknown, string, string]>([
    ['semanticSearch', { query: 'rainy nights' }, "Searching your library for 'rainy nights'", "Searched your library for 'rainy nights'"],
    ['tidalSearch', { query: 'Björk' }, "Searching the Tidal catalogue for 'Björk'", "Searched the Tidal catalogue for 'Björk'"],
    ['batchMetadata', { isrcs: ['a', 'b'] }, 'Looking up 2 tracks', 'Looked up 2 tracks'],
    ['suggestPlaylist', { title: 'Lamplight' }, "Putting together the playlist 'Lamplight'", "Put together the playlist 'Lamplight'"],
    ['add_task', { title: 'Buy strings' }, "Adding 'Buy strings'", "Added 'Buy strings'"],
    ['list_tasks', { filter: 'pending' }, 'Reading your open tasks', 'Read your open tasks'],
    ['readWeather_now', { city: 'Oslo' }, 'Running read weather now', 'Ran read weather now'],
    ['constructor', null, 'Running constructor', 'Ran constructor'],
    ['semanticSearch', null, 'Searching your library', 'Searched your library'],
  ])('%s speaks like a person', (name, input, running, done) => {
    draw(<ToolCard call={call({ name, input })} />);
    expect(screen.getByText(running)).toBeTruthy();
    cleanup();
    draw(<ToolCard call={call({ name, input, status: 'done' })} />);
    expect(screen.getByText(done)).toBeTruthy();
  });

  it('stands open when its results are the answer, and can be folded', async () => {
    const output = { tracks: [{ isrc: 'X', title: 'Song', artist: 'A', album: 'B', inLibrary: false, isIndexed: true }], totalFound: 1 };
    draw(<ToolCard call={call({ status: 'done', output })} shown />);
    expect(screen.getByText('Song')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: /Searched your library/ }));
    expect(screen.queryByText('Song')).toBeNull();
  });

  it('cannot be opened while it runs or when it found nothing', () => {
    draw(<ToolCard call={call({})} />);
    expect(screen.queryByRole('button')).toBeNull();
    cleanup();
    draw(<ToolCard call={call({ status: 'done', count: 0, summary: "No tracks found matching 'x'" })} />);
    expect(screen.queryByRole('button')).toBeNull();
    expect(screen.getByText(/nothing found/)).toBeTruthy();
    expect(screen.queryByText(/No tracks found/), 'the title has told the words').toBeNull();
  });

  it.each<[string, Record<string, unknown> | undefined, string, string]>([
    ['complete_task', { id: 'a', title: 'Buy strings' }, "Completed a task · 'Buy strings'", 'Aufgabe abgehakt · „Buy strings“'],
    ['list_tasks', undefined, 'Read your tasks · nothing found', 'Deine Aufgaben gelesen · nichts gefunden'],
    ['list_playlists', { playlists: [{ id: 'p' }, { id: 'q' }], tracks: [] }, 'Read your playlists · 2 playlists', ''],
    ['edit_playlist', { action: 'rename', title: 'Late', changed: [] }, "Changed a playlist · renamed to 'Late'", ''],
    ['edit_playlist', moved('add', 'Sodium'), "Changed a playlist · 'Sodium' added to 'Late'", ''],
    ['edit_playlist', moved('remove', 'Sodium', 'Ebb'), "Changed a playlist · 2 tracks removed from 'Late'", ''],
    ['edit_playlist', moved('move', 'Sodium'), "Changed a playlist · 'Sodium' moved to position 3 of 'Late'", ''],
    ['readWeather_now', { degrees: 4 }, 'Ran read weather now · The summary.', ''],
  ])('says in the language of the page what %s came to', (name, output, english, german) => {
    const done = call({ name, input: {}, status: 'done', output, count: output ? 2 : 0, summary: 'The summary.' });
    const said = () => draw(<ToolCard call={done} />).container.querySelector('.tool-words')?.textContent;
    expect(said()).toBe(english);
    if (german === '') return;
    cleanup();
    speak('de', de);
    expect(said()).toBe(german);
  });

  it('shows the number of the server, and not what it can count itself', () => {
    const output = { tracks: [], totalFound: 0 };
    const words = () => document.querySelector('.tool-words')?.textContent;
    draw(<ToolCard call={call({ status: 'done', count: 3, output })} />);
    expect(words()).toContain('3 found');
    cleanup();
    draw(<ToolCard call={call({ name: 'list_playlists', input: { playlist: 'Late' }, status: 'done', count: 3, output })} />);
    expect(words()).toContain('3 tracks');
    cleanup();
    draw(<ToolCard call={call({ status: 'done', output })} />);
    expect(words()).not.toContain('found');
  });

  it('names a tool without a card by its title', () => {
    const done = call({ name: 'home__turn_on', title: 'Turn on (home)', status: 'done', count: 1, summary: 'The light is on.' });
    draw(<ToolCard call={done} />);
    expect(screen.getByText('Ran Turn on (home)')).toBeTruthy();
    expect(screen.getByText(/The light is on\./)).toBeTruthy();
  });

  it('lists the playlists that were read', () => {
    const output = { playlists: [{ id: 'p', title: 'Late', trackCount: 3 }], tracks: [], summary: '1 playlist', durationMs: 1 };
    draw(<ToolCard shown call={{ ...call({ name: 'list_playlists', input: {} }), ...success(output, { resultCount: 1 }) }} />);
    expect(screen.getByRole('link', { name: 'Late' }).getAttribute('href')).toBe('/playlists?id=p');
  });

  it('opens to tracks, badges, strength in words, and on demand to features, lyrics and interpretation', async () => {
    const user = userEvent.setup();
    const part = live('discover').parts.find((candidate) => candidate.kind === 'tool');
    if (part?.kind !== 'tool') throw new Error('the recording has no tool call');
    draw(<ToolCard call={part.call} />);
    await user.click(screen.getByRole('button', { name: /Searched your library/ }));
    const rows = screen.getAllByRole('listitem');
    expect(rows).toHaveLength(5);
    const first = within(rows[0]!);
    expect(first.getByText('Harbour Lights')).toBeTruthy();
    expect(first.getByText('In library')).toBeTruthy();
    expect(first.queryByText('Indexed')).toBeNull();
    expect(first.getByText('Strong match')).toBeTruthy();

    await user.click(first.getByRole('button', { name: /^Harbour Lights/ }));
    expect(first.getByText('Why it matched')).toBeTruthy();
    expect(first.getByText('Energy').parentElement?.textContent).toContain('31%');
    expect(first.getByText('Key: A minor')).toBeTruthy();
    expect(first.queryByText(/lets the water in/)).toBeNull();
    await user.click(first.getByRole('button', { name: 'Lyrics' }));
    expect(first.getByText(/lets the water in/)).toBeTruthy();
    await user.click(first.getByRole('button', { name: 'Interpretation' }));
    expect(first.getByText(/leaves room around every line/)).toBeTruthy();
  });

  it('begins with the first few of many and shows the rest on demand', async () => {
    const track = (n: number) => ({ isrc: `XSGUE26${n}`, title: `Song ${n}`, artist: 'A', album: 'B', inLibrary: false, isIndexed: true });
    const albums = Array.from({ length: 6 }, (_, n) => ({
      id: String(n),
      title: `Album ${n}`,
      artist: 'A',
      trackCount: 1,
      inLibrary: false,
    }));
    const tracks = Array.from({ length: 20 }, (_, n) => track(10000 + n));
    draw(
      <ToolCard
        call={call({ name: 'tidalSearch', status: 'done', count: 26, output: { albums, tracks, totalFound: { albums: 6, tracks: 20 } } })}
      />,
    );
    await userEvent.click(screen.getByRole('button'));
    expect(screen.getByText(/26 found/)).toBeTruthy();
    expect(screen.getAllByRole('listitem')).toHaveLength(4 + 5);
    await userEvent.click(screen.getByRole('button', { name: 'Show all 20' }));
    expect(screen.getAllByRole('listitem')).toHaveLength(4 + 20);
    await userEvent.click(screen.getByRole('button', { name: 'Show the first 5' }));
    expect(screen.getAllByRole('listitem')).toHaveLength(4 + 5);
  });

  it.each([
    ['semanticSearch', { totalFound: 1 }, 'Some of your tracks are still being read and cannot be found yet.'],
    ['tidalSearch', { totalFound: { tracks: 1, albums: 0 } }, 'Tidal had more, but did not deliver it in time.'],
  ])('says that %s did not look everywhere', (name, counts, words) => {
    const tracks = [{ isrc: 'XSEbb', title: 'Ebb', artist: 'Ivy Marlow', album: '', inLibrary: true, isIndexed: true }];
    const output = { tracks, query: 'ebb', ...counts };
    draw(<ToolCard shown call={call({ name, status: 'done', output: { ...output, isIncomplete: true } })} />);
    expect(screen.getByText(words)).toBeTruthy();
    cleanup();
    draw(<ToolCard shown call={call({ name, status: 'done', output })} />);
    expect(screen.queryByText(words)).toBeNull();
  });

  it('opens an album in its order, and a batch with what nobody knows', async () => {
    const track = (title: string) => ({
      isrc: `XS${title}`,
      title,
      artist: 'Ivy Marlow',
      album: 'Low Tide',
      inLibrary: true,
      isIndexed: true,
    });
    const album = { albumId: '7', albumTitle: 'Low Tide', artist: 'Ivy Marlow', tracks: [track('Ebb'), track('Flow')] };
    draw(<ToolCard call={call({ name: 'albumTracks', input: { albumId: '7' }, status: 'done', output: album })} />);
    await userEvent.click(screen.getByRole('button', { name: /Opened an album/ }));
    expect(screen.getByText(/Low Tide · Ivy Marlow/)).toBeTruthy();
    expect(screen.getAllByRole('listitem').map((row) => /Ebb|Flow/.exec(row.textContent ?? '')?.[0])).toEqual(['Ebb', 'Flow']);
    cleanup();
    const batch = {
      tracks: [track('Ebb')],
      found: ['XSEbb'],
      notFound: ['XSGUE2699999', 'nope'],
      invalid: [{ isrc: 'nope', reason: 'has 4 letters and digits' }],
    };
    draw(<ToolCard call={call({ name: 'batchMetadata', input: { isrcs: ['a', 'b', 'c'] }, status: 'done', output: batch })} />);
    await userEvent.click(screen.getByRole('button', { name: /Looked up 3 tracks/ }));
    expect(screen.getAllByRole('listitem')).toHaveLength(1);
    expect(screen.getByText('XSGUE2699999')).toBeTruthy();
    expect(screen.getByText(/has 4 letters and digits/)).toBeTruthy();
  });

  it('draws an unknown tool with its question and its answer', async () => {
    draw(
      <ToolCard call={call({ name: 'read_weather', input: { city: 'Oslo' }, status: 'done', output: { degrees: 4, days: [{ d: 1 }] } })} />,
    );
    await userEvent.click(screen.getByRole('button'));
    expect(screen.getByText('Oslo')).toBeTruthy();
    expect(screen.getByText(/"degrees": 4/)).toBeTruthy();
  });

  it('shows a result it cannot make sense of as it came', async () => {
    const silence = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    draw(<ToolCard call={call({ status: 'done', output: { tracks: 'soon', totalFound: 1 } })} />);
    await userEvent.click(screen.getByRole('button'));
    expect(screen.getByText('soon')).toBeTruthy();
    silence.mockRestore();
  });

  it.each([
    [{ message: 'Query cannot be empty', retryable: false, wasRetried: false }, 'Query cannot be empty. The agent continues without it.'],
    [
      { message: 'Tidal is away.', retryable: true, wasRetried: true },
      'Tidal is away. Tried twice. The agent continues without it and may try again later.',
    ],
    [{ message: 'Interrupted', retryable: false, wasRetried: false }, 'Interrupted.'],
  ])('says what happened and what comes next', (error, words) => {
    expect(whatHappened(error)).toBe(words);
  });
});
