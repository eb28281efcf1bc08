import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';
import type { Task } from '../api/types';
import { Toasts, undoLast } from '../ui/toast';
import { TaskRow } from './task-row';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const TASK = { id: 'x', title: 'Call the venue', description: '', completed: false, createdAt: '', updatedAt: '' } as Task;

/** Draws the row over a server that answers a write when it is told to; what was written so far. */
function draw() {
  const written: string[] = [];
  const waiting: ((response: Response) => void)[] = [];
  vi.stubGlobal('fetch', (path: string, { method = 'GET' }: RequestInit = {}) => {
    if (method === 'GET') return Promise.resolve(Response.json({ tasks: [TASK] }));
    written.push(`${method} ${path}`);
    return new Promise<Response>((answer) => waiting.push(answer));
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ul>
        <TaskRow task={TASK} />
      </ul>
      <Toasts />
    </QueryClientProvider>,
  );
  return { written, answer: (response: Response) => waiting.shift()?.(response) };
}

/** Does it, undoes it while the server is silent, and lets the server answer. */
async function undoneTooEarly(role: string, name: string, write: string, back: string): Promise<void> {
  const { written, answer } = draw();
  await userEvent.click(screen.getByRole(role, { name }));
  await vi.waitFor(() => expect(written).toEqual([write]));
  expect(undoLast()).toBe(true);
  expect(written).toEqual([write]);
  answer(new Response(null, { status: 204 }));
  await vi.waitFor(() => expect(written).toEqual([write, back]));
  answer(Response.json(TASK));
  // It was taken back before there was anything to say.
  expect(screen.queryByText(/^(Deleted|Done)/)).toBeNull();
}

it('a deletion that the server has not confirmed is undone once it has', () =>
  undoneTooEarly('button', 'Delete Call the venue', 'DELETE /api/tasks/x', 'POST /api/tasks/x/restore'));

it('a completion that the server has not confirmed is undone once it has', () =>
  undoneTooEarly('checkbox', 'Call the venue', 'PATCH /api/tasks/x', 'PATCH /api/tasks/x'));

it('a deletion that the server refuses says so once and leaves nothing to undo', async () => {
  const { written, answer } = draw();
  await userEvent.click(screen.getByRole('button', { name: 'Delete Call the venue' }));
  await vi.waitFor(() => expect(written).toHaveLength(1));
  answer(Response.json({ error: { code: 'INTERNAL_ERROR', message: 'It broke.', details: [] } }, { status: 500 }));
  expect(await screen.findAllByText('It broke.')).toHaveLength(1);
  expect(screen.queryByText(/^Deleted/)).toBeNull();
  expect(undoLast()).toBe(false);
});
