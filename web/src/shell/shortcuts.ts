// All keyboard shortcuts in one list, used by the handlers and the help.
import { msg, t } from '../i18n';
export const SHORTCUTS = [
  { keys: ['Ctrl', 'K'], what: msg('Find anything: pages, conversations, actions') },
  { keys: ['Ctrl', 'Shift', 'O'], what: msg('New chat') },
  { keys: ['Ctrl', 'Z'], what: msg('Undo the last action') },
  { keys: ['/'], what: msg('Go to the message or search field') },
  { keys: ['?'], what: msg('This list') },
  { keys: ['Enter'], what: msg('Send the message; Shift Enter begins a new line') },
  { keys: ['↑'], what: msg('In an empty message field: edit your last question') },
  { keys: ['Esc'], what: msg('Stop the answer, or close the open dialog') },
  { keys: ['↑', '↓'], what: msg('In the task list: move between tasks') },
  { keys: ['E'], what: msg('On a task: edit it') },
  { keys: ['Delete'], what: msg('On a task: delete it') },
  { keys: ['Alt', '↑'], what: msg('On a task or a track of a playlist: move it up; with ↓ down') },
  { keys: ['Ctrl', 'A'], what: msg('In the list of tracks: select all of them; Shift selects a range') },
];

export const isApple = () => /Mac|iPhone|iPad/.test(navigator.platform);

/** As it is printed on the keyboard. Apple keyboards have ⌘ in place of Ctrl. */
export const keyName = (key: string) => (key === 'Ctrl' && isApple() ? '⌘' : t(KEYS[key] ?? key));

/** Keys whose label differs between keyboards. */
const KEYS: Record<string, string> = {
  Ctrl: msg('Ctrl'),
  Shift: msg('Shift'),
  Enter: msg('Enter'),
  Esc: msg('Esc'),
  Delete: msg('Del'),
};
