// The card of each tool. A tool without an entry gets the generic card.
import type { ToolCall } from '../chat/parts';
import { addTask, completeTask, deleteTask, listTasks, updateTask } from './tasks';
import { albumTracks } from './album-tracks';
import { batchMetadata } from './batch-metadata';
import { genericCard, inWords } from './generic';
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

export function cardFor({ name, title }: Pick<ToolCall, 'name' | 'title'>): CardSpec {
  return Object.hasOwn(CARDS, name) ? CARDS[name]! : genericCard(title ?? inWords(name));
}
