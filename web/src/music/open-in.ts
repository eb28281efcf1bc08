// Where a track can be heard. Segue itself plays nothing.

/** The track's public page at Tidal, if its id there is known. Those ids are numbers; anything else is not an address. */
export function tidalAddress({ tidalId }: { tidalId?: string | null }): string | null {
  return tidalId && /^\d+$/.test(tidalId) ? `https://tidal.com/browse/track/${tidalId}` : null;
}
