import { afterEach, expect, it } from 'vitest';
import de from '../i18n/de.json';
import es from '../i18n/es.json';
import fr from '../i18n/fr.json';
import { speak } from '../i18n';
import { shownTitle } from './shown-title';

afterEach(() => speak('en', {}));

it.each([
  ['en', {}, 'La pluie · 20 tracks', 'Portishead · 1 track, 5 albums'],
  ['de', de, 'La pluie · 20 Titel', 'Portishead · 1 Titel, 5 Alben'],
  ['fr', fr, 'La pluie · 20 titres', 'Portishead · 1 titre, 5 albums'],
  ['es', es, 'La pluie · 20 canciones', 'Portishead · 1 canción, 5 álbumes'],
])('says in %s what was found', (language, messages, rain, portishead) => {
  speak(language, messages);
  expect(shownTitle({ title: 'La pluie · 20 tracks' })).toBe(rain);
  expect(shownTitle({ title: 'Portishead · 1 track, 5 albums' })).toBe(portishead);
});

it('leaves other titles as they were written', () => {
  speak('fr', fr);
  for (const title of ['Buy strings', '20 tracks · rain', 'rain · 20 tracks today']) {
    expect(shownTitle({ title })).toBe(title);
  }
});
