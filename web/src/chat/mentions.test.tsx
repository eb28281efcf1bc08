// Which names in an answer's text become links: what is not certain stays text.
import { cleanup, render } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { Markdown } from './markdown';
import { albumHref, artistHref, namedAlbumHref, NamesContext, taskHref, trackHref } from './mentions';
import type { Meaning, Names } from './names';

afterEach(cleanup);

const NAMES: Names = new Map<string, readonly Meaning[]>([
  // A title track: the track was found, and it is on the album of the same name.
  [
    'Every Exit',
    [
      { kind: 'track', href: trackHref('T1'), by: 'Ferris County Lights' },
      { kind: 'album', href: namedAlbumHref('Every Exit', 'Ferris County Lights'), by: 'Ferris County Lights', aside: true },
    ],
  ],
  ['Harbour Tax', [{ kind: 'album', href: namedAlbumHref('Harbour Tax', 'Odell Quarrie'), by: 'Odell Quarrie', aside: true }]],
  // A track and an album of two artists, both found.
  [
    'Coming Home',
    [
      { kind: 'track', href: trackHref('T2'), by: 'Ivy Marlow' },
      { kind: 'album', href: albumHref('A2'), by: 'The Low Tides' },
    ],
  ],
  [
    'Nightjar',
    [
      { kind: 'album', href: albumHref('A3'), by: 'Nightjar' },
      { kind: 'artist', href: artistHref('Nightjar') },
    ],
  ],
  // Two releases of one track.
  [
    'Low Tide',
    [
      { kind: 'track', href: trackHref('T5'), by: 'Ivy Marlow' },
      { kind: 'track', href: trackHref('T6'), by: 'Ivy Marlow' },
    ],
  ],
  ['It', [{ kind: 'album', href: albumHref('A4'), by: 'Someone' }]],
  ['Ferris County Lights', [{ kind: 'artist', href: artistHref('Ferris County Lights') }]],
  ['Call mum', [{ kind: 'task', href: taskHref('K1') }]],
  ['Milk', [{ kind: 'task', href: taskHref('K2') }]],
  [
    'Pay rent',
    [
      { kind: 'task', href: taskHref('K3') },
      { kind: 'task', href: taskHref('K4') },
    ],
  ],
]);

const linksOf = (text: string) => {
  const { container } = render(
    <NamesContext value={NAMES}>
      <Markdown text={text} />
    </NamesContext>,
  );
  expect(container.textContent, 'no word is lost').toBe(text.replace(/\*/g, ''));
  return [...container.querySelectorAll('a')].map((link) => link.getAttribute('href'));
};

const TRACK = '/library?track=T1';
const ALBUM = '/library?album=Every%20Exit&by=Ferris%20County%20Lights';
const ARTIST = '/library?artist=Ferris%20County%20Lights';

describe('a name in the text', () => {
  it.each<[string, string[]]>([
    // The track was found; its album is meant only where the words say so.
    ['Begin with **Every Exit**.', [TRACK]],
    ['**Every Exit** — Ferris County Lights. Fast.', [TRACK, ARTIST]],
    ['It is on the album **Every Exit**.', [ALBUM]],
    ['Das Album „Every Exit“ ist laut.', [ALBUM]],
    ['L’album « Every Exit » est long.', [ALBUM]],
    ['El álbum Every Exit es largo.', [ALBUM]],
    ['The best song from Every Exit.', [ALBUM]],
    ['A slow one by Ferris County Lights (Every Exit, 2018, 4:11)', [ARTIST, ALBUM]],
    ['Nothing else is like Harbour Tax.', ['/library?album=Harbour%20Tax&by=Odell%20Quarrie']],
    // Of another artist, or of another kind.
    ['**Every Exit** by Another Band', []],
    ['**Coming Home** is near.', []],
    ['**Coming Home** by Ivy Marlow', ['/library?track=T2']],
    ['**Coming Home** — The Low Tides', ['/library?album=A2']],
    ['The song “Coming Home”, not the album “Coming Home”.', ['/library?track=T2', '/library?album=A2']],
    ['The song Harbour Tax', []],
    ['**Low Tide** is calm.', ['/library?track=T5']],
    // An album that is called like its artist.
    ['**Nightjar** by Nightjar', ['/library?album=A3', '/library?artist=Nightjar']],
    ['**Nightjar** is good.', []],
    ['A nightjar sings, and Nightjar too.', []],
    // Short names and names inside of longer words.
    ['It is late, and **It** rains.', []],
    ['Every Exitway, Harbour Taxes', []],
    // Tasks.
    ['**Call mum** by Friday.', ['/tasks?task=K1']],
    ['Milk is out.', []],
    ['“Milk” is done.', ['/tasks?task=K2']],
    ['Die Aufgabe „Milk“ ist erledigt.', ['/tasks?task=K2']],
    ['**Pay rent** is there twice.', []],
  ])('%s', (text, links) => {
    expect(linksOf(text)).toEqual(links);
  });
});
