// Names in an answer's text: tracks open where one reads; artists, albums and tasks lead to their pages.
import { createContext, useContext, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { openTrack } from '../music/open-track';
import type { Names } from './names';

export const NamesContext = createContext<Names>(new Map());
export const useNames = () => useContext(NamesContext);

export const trackHref = (name: string) => `#track-${name}`;
export const artistHref = (artist: string) => `#artist-${encodeURIComponent(artist)}`;
export const albumHref = (id: string) => `#album-${encodeURIComponent(id)}`;
/** An album that is known by its names only. */
export const namedAlbumHref = (title: string, artist: string) => `#album-${encodeURIComponent(title)}&by=${encodeURIComponent(artist)}`;
export const taskHref = (id: string) => `#task-${id}`;
const HREF = /^#(track|artist|album|task)-([\w%.~!*'()-]+)(&by=[\w%.~!*'()-]*)?$/;
export const isNameHref = (href: string | undefined): href is string => href !== undefined && HREF.test(href);

/** A real address, so that it also opens in a tab of its own. */
export function NameLink({ href, children }: { href: string; children: ReactNode }) {
  const [, navigate] = useLocation();
  const [, kind = '', name = '', by = ''] = HREF.exec(href) ?? [];
  const address = `${kind === 'task' ? '/tasks' : '/library'}?${kind}=${name}${by}`;
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
