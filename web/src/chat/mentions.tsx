// Names in an answer's text: tracks open where one reads, artists lead to their tracks in the library.
import { createContext, useContext, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { openTrack } from '../music/open-track';

/** A name and where it leads. */
export type Names = ReadonlyMap<string, string>;

export const NamesContext = createContext<Names>(new Map());
export const useNames = () => useContext(NamesContext);

export const trackHref = (name: string) => `#track-${name}`;
export const artistHref = (artist: string) => `#artist-${encodeURIComponent(artist)}`;
const HREF = /^#(track|artist)-([\w%.~!*'()-]+)$/;
export const isNameHref = (href: string | undefined): href is string => href !== undefined && HREF.test(href);

/** A real address, so that it also opens in a tab of its own. */
export function NameLink({ href, children }: { href: string; children: ReactNode }) {
  const [, navigate] = useLocation();
  const [, kind = '', name = ''] = HREF.exec(href) ?? [];
  const address = `/library?${kind}=${name}`;
  return (
    <a
      className="track-link"
      href={address}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        if (kind === 'track') openTrack(name);
        else navigate(address);
      }}
    >
      {children}
    </a>
  );
}
