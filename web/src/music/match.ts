// How well and why a track matched, in words.
import type { IndexedTrackResult } from '../api/types';
import { t } from '../i18n';

export type Strength = 'strong' | 'good' | 'weak';

/** The last digits of a score say nothing to a listener. */
export function strengthOf(score: number): Strength {
  if (score >= 0.75) return 'strong';
  return score >= 0.5 ? 'good' : 'weak';
}

/** One line: the lyric that says it, else what the track is about, else the words or the sound that fit. */
export function whyLine({ why, shortDescription }: IndexedTrackResult): string | null {
  if (why?.lyric) return t('“{words}”', { words: firstLine(why.lyric) });
  if (shortDescription) return shortDescription;
  const hints = [
    ...(why?.words ?? []).map((word) => t('“{words}”', { words: word })),
    ...(why?.features ?? []).map((feature) => feature.replace(/ \([\d.]+\)$/, '')),
  ];
  return hints.length > 0 ? t('Has {hints}', { hints: hints.slice(0, 3).join(', ') }) : null;
}

const firstLine = (text: string) => text.split(/\s*\n\s*/)[0] ?? text;
