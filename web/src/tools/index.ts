// The card of each tool. A tool without an entry gets the generic card.
import { addTask, completeTask, deleteTask, listTasks, updateTask } from './tasks';
import { albumTracks } from './album-tracks';
import { batchMetadata } from './batch-metadata';
import { genericCard } from './generic';
import { editPlaylist, listPlaylists } from './playlists';
import { semanticSearch } from './semantic-search';
import type { CardSpec } from './spec';
import { suggestPlaylist } from './suggest-playlist';
import { tidalSearch } from './tidal-search';

const CARDS: Record<string, CardSpec> = {
  semanticSearch,
  tidalSearch,
  albumTracks,
  batchMetadata,
  suggestPlaylist,
  list_playlists: listPlaylists,
  edit_playlist: editPlaylist,
  add_task: addTask,
  list_tasks: listTasks,
  complete_task: completeTask,
  delete_task: deleteTask,
  update_task: updateTask,
};

const generic = new Map<string, CardSpec>();

export function cardFor(toolName: string): CardSpec {
  if (Object.hasOwn(CARDS, toolName)) return CARDS[toolName]!;
  const known = generic.get(toolName) ?? genericCard(toolName);
  generic.set(toolName, known);
  return known;
}
