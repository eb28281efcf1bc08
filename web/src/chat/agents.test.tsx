// An agent that only the server knows can be chosen, asked and recognised.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import { History } from '../history/history';
import Palette from '../shell/palette';
import { NewChat } from './chat-page';
import { Sessions, SessionsContext } from './sessions';

const agent = (id: string, title: string, tools: string[]) => ({
  id,
  title,
  description: `${title} helps.`,
  greeting: `Hello from ${title}`,
  placeholder: `Ask ${title}`,
  examples: [`Try ${title}`],
  tools,
});
const ABOUT = {
  version: '0',
  mode: 'local',
  model: { id: 'offline', offline: false },
  agents: [
    agent('discover', 'Discover', ['semanticSearch']),
    agent('tasks', 'Tasks', ['list_tasks']),
    agent('cook', 'Cook', ['find_recipe']),
  ],
  tidal: false,
  features: [],
};
const at = '2026-11-18T09:00:00Z';
const conversation = { id: 'c', agent: 'cook', title: 'Soup', preview: '', pinned: false, running: false, createdAt: at, updatedAt: at };
const sent: unknown[] = [];

beforeEach(() => {
  sent.length = 0;
  vi.stubGlobal('fetch', async (path: string, init?: RequestInit) => {
    if (path === '/api/about') return Response.json(ABOUT);
    if (path.startsWith('/api/conversations')) return Response.json({ conversations: [conversation] });
    if (path === '/api/chat/stream') {
      sent.push(JSON.parse(String(init?.body)));
      return Response.json({ error: { code: 'VALIDATION_ERROR', message: 'No.' } }, { status: 400 });
    }
    return Response.json({ tasks: [], tracks: [], total: 3 });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function draw(node: React.ReactNode, path = '/') {
  const queries = new QueryClient();
  const { hook, searchHook, history } = memoryLocation({ path, record: true });
  render(
    <Router hook={hook} searchHook={searchHook}>
      <QueryClientProvider client={queries}>
        <SessionsContext value={new Sessions(queries)}>{node}</SessionsContext>
      </QueryClientProvider>
    </Router>,
  );
  return history;
}

it('is offered beside the others, with its own words, and gets the first message', async () => {
  const user = userEvent.setup();
  draw(<NewChat />);
  expect(await screen.findByRole('heading', { name: 'Hello from Discover' })).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Cook' }));
  expect(screen.getByRole('heading', { name: 'Hello from Cook' })).toBeTruthy();
  expect(screen.getByText('Cook helps.')).toBeTruthy();
  expect(screen.getByPlaceholderText('Ask Cook')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Try Cook' }));
  await vi.waitFor(() => expect(sent).toMatchObject([{ message: 'Try Cook', agent: 'cook' }]));
});

it('leaves the choice to the server when the address names none, or one that is not there', async () => {
  draw(<NewChat />, '/?agent=gardener');
  await userEvent.click(await screen.findByRole('button', { name: 'Try Discover' }));
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).not.toHaveProperty('agent');
});

it('is named in the list of conversations and in the palette', async () => {
  draw(<History />);
  expect(await screen.findByLabelText('Cook')).toBeTruthy();
  cleanup();
  const history = draw(<Palette onClose={() => undefined} onKeys={() => undefined} />);
  await userEvent.click(await screen.findByRole('option', { name: 'New chat: Cook' }));
  expect(history.at(-1)).toBe('/?agent=cook');
});
