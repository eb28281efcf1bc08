import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { AskContext } from '../chat/ask';
import { Sessions, SessionsContext } from '../chat/sessions';
import { AskAbout } from './ask-about';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it('asks about an artist only where a track names one', async () => {
  const named = (title: string, artist: string) => ({ trackId: title, title, artist });
  const tracks = [named('Night Ferry', 'Ivy Marlow'), named('A Lamp Left On', ''), named('Harbour at Four', 'The Low Tides')];
  vi.stubGlobal('fetch', async () => Response.json({ tracks, total: tracks.length }));
  const queries = new QueryClient();
  render(
    <QueryClientProvider client={queries}>
      <SessionsContext value={new Sessions(queries)}>
        <AskContext value={() => undefined}>
          <AskAbout />
        </AskContext>
      </SessionsContext>
    </QueryClientProvider>,
  );
  await screen.findByText('Now you can ask:');
  const asked = screen.getAllByRole('button').map((button) => button.textContent);
  expect(asked).toEqual(['More like “Night Ferry”', 'Songs by The Low Tides', 'Something calm for the evening']);
});
