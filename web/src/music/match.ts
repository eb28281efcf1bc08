// How well and why a track matched, in words.
import type { IndexedTrackResult } from '../api/types';

export type Strength = 'strong' | 'good' | 'weak';

/** The last digits of a score say nothing to a listener. */
export function strengthOf(score: number): Strength {
  if (score >= 0.75) return 'strong';
  return score >= 0.5 ? 'good' : 'weak';
}

/** One line: the lyric that says it, else the words or the sound that fit, else what the track is about. */
export function whyLine({ why, shortDescription }: IndexedTrackResult): string | null {
  if (why?.lyric) return `“${firstLine(why.lyric)}”`;
  const hints = [
    ...(why?.words ?? []).map((word) => `“${word}”`),
    ...(why?.features ?? []).map((feature) => feature.replace(/ \([\d.]+\)$/, '')),
  ];
  if (hints.length > 0) return `Has ${hints.slice(0, 3).join(', ')}`;
  return shortDescription ?? null;
}

const firstLine = (text: string) => text.split(/\s*\n\s*/)[0] ?? text;
