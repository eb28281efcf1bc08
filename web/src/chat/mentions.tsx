// Track names in an answer's text: links that open the track where one reads.
import { createContext, useContext, type ReactNode } from 'react';
import { openTrack } from '../music/open-track';

export type Names = ReadonlyMap<string, string>;

export const NamesContext = createContext<Names>(new Map());
export const useNames = () => useContext(NamesContext);

const HREF = '#track-';
export const trackHref = (isrc: string) => HREF + isrc;
export const isTrackHref = (href: string | undefined): href is string => href !== undefined && /^#track-[A-Z0-9]+$/i.test(href);

/** A real address, so that it also opens in a tab of its own. */
export function TrackLink({ href, children }: { href: string; children: ReactNode }) {
  const isrc = href.slice(HREF.length);
  return (
    <a
      className="track-link"
      href={`/library?track=${isrc}`}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        openTrack(isrc);
      }}
    >
      {children}
    </a>
  );
}
