// The question of the newest answer, asked again in other words: the new answer takes the place of the old one, which is kept.
import { createContext } from 'react';

export interface AskAgain {
  /** What the person asked. */
  words: string;
  ask: (words: string) => void;
}

/** Null where there is nothing to ask again: an earlier answer, or one that is being written. */
export const AskAgainContext = createContext<AskAgain | null>(null);
