// Several requests, one report.
import type { ImportAnswer } from '../api/types';

export function mergeReports(reports: ImportAnswer[]): ImportAnswer {
  return reports.reduce((all, one) => ({
    ...all,
    read: all.read + one.read,
    tracks: all.tracks + one.tracks,
    matched: all.matched + one.matched,
    added: all.added + one.added,
    alreadyThere: all.alreadyThere + one.alreadyThere,
    ambiguous: [...all.ambiguous, ...one.ambiguous],
    unmatched: [...all.unmatched, ...one.unmatched],
    failures: [...all.failures, ...one.failures],
    files: [...all.files, ...one.files],
  }));
}
