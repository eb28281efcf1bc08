import { afterEach, expect, it } from 'vitest';
import { speak } from '../i18n';
import fr from '../i18n/fr.json';
import { limitLabel } from './limit-label';

const LABELS = [
  'without drums',
  'not in French',
  'instrumental',
  'at most 2 per artist',
  'under 4:00',
  'until 1999',
  '1990–1999',
  'key A minor',
];

afterEach(() => speak('en', {}));

it('says a limit in English as the server does', () => {
  expect(LABELS.map(limitLabel)).toEqual(LABELS);
});

it('says a limit in the language of the page, and what it does not know as it is', () => {
  speak('fr', fr);
  expect(LABELS.map(limitLabel)).toEqual([
    'sans drums',
    'pas en français',
    'instrumental',
    'au plus 2 par artiste',
    'moins de 4:00',
    'jusqu’à 1999',
    '1990–1999',
    'key A minor',
  ]);
});
