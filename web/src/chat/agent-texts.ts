// What the built-in agents say about themselves. The server sends it in English; listed here, it is translated like the page's own texts.
// The texts of other agents are shown as the server sends them.
import { msg } from '../i18n';

export const AGENT_TEXTS = [
  msg('Discover'),
  msg('Talks about music: finds it by mood, theme, lyrics or name, and makes playlists from what you own and what is new.'),
  msg('What would you like to hear?'),
  msg('A mood, a memory, half a line…'),
  msg('Something for a rainy night drive'),
  msg('Songs about leaving home, hopeful rather than sad'),
  msg('Make me a playlist for a slow Sunday morning'),
  msg('Calm piano for reading'),
  msg('Tasks'),
  msg('Keeps your to-do list: add, list, complete, change and delete by chat.'),
  msg('What needs doing?'),
  msg('Say what is on your mind…'),
  msg('Add buy oat milk, call the dentist and water the plants'),
  msg('What is on my list?'),
  msg('I have called the dentist'),
  msg('Rename the first task to buy oat milk and coffee'),
];
