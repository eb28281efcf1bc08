import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { IndexedTrackResult } from '../api/types';
import { TrackDetails } from './track-details';

const track = {
  trackId: 't1',
  title: 'Direct Deposit',
  artist: 'Nadia Okoro',
  interpretation: 'Waiting for wages to land.',
  inLibrary: true,
  isIndexed: true,
} as unknown as IndexedTrackResult;

it('says every reason why a track matched, each once', () => {
  const why = { words: ['money (Geld)'], tags: ['money (Geld)', 'payday'], limits: ['1994'], closeTo: 'Waiting for wages to land.' };
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TrackDetails track={{ ...track, why }} />
    </QueryClientProvider>,
  );
  expect(screen.getByText('Why it matched')).toBeTruthy();
  for (const reason of ['“money (Geld)”', '“payday”', '1994', 'Close in meaning: “Waiting for wages to land.”']) {
    expect(screen.getByText(reason)).toBeTruthy();
  }
});
