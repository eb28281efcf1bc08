// Recorded streams beside what was stored of the same turns: the two views a person must not be able to tell apart.
import type { OpenConversation, Frame } from '../../api/types';
import broken from './broken.json';
import discover from './discover.json';
import failingTool from './failing-tool.json';
import playlist from './playlist.json';
import stopped from './stopped.json';
import tasks from './tasks.json';

export interface Recording {
  frames: Frame[];
  conversation: OpenConversation;
}

export const RECORDINGS = { discover, 'failing tool': failingTool, playlist, tasks, stopped, broken } as unknown as Record<string, Recording>;
