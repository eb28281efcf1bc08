import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import type { IndexedTrackResult } from '../api/types';
import { tidalAddress } from './open-in';
import { TrackDetails } from './track-details';

afterEach(cleanup);

it('has an address at Tidal only for an id of Tidal', () => {
  expect(tidalAddress({ tidalId: '77640617' })).toBe('https://tidal.com/browse/track/77640617');
  for (const tidalId of [undefined, null, '', 'album/3', '1?x=2', 'javascript:alert(1)']) expect(tidalAddress({ tidalId })).toBeNull();
});

it.each([
  ['77640617', 1],
  [null, 0],
])('the details of a track with the id %s have %i links to it', (tidalId, n) => {
  const track = { isrc: 'XSGUE2600001', title: 'Ebb', artist: 'Ivy Marlow', interpretation: 'The sea.', inLibrary: true, tidalId };
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TrackDetails track={track as IndexedTrackResult} />
    </QueryClientProvider>,
  );
  const links = screen.queryAllByRole('link', { name: 'Open in Tidal' });
  expect(links.map((link) => link.getAttribute('href'))).toEqual(Array(n).fill('https://tidal.com/browse/track/77640617'));
});
