// All keyboard shortcuts in one list, used by the handlers and the help.
export const SHORTCUTS = [
  { keys: ['Ctrl', 'K'], what: 'Find anything: pages, conversations, actions' },
  { keys: ['Ctrl', 'Shift', 'O'], what: 'New chat' },
  { keys: ['Ctrl', 'Z'], what: 'Undo the last action' },
  { keys: ['/'], what: 'Go to the message or search field' },
  { keys: ['?'], what: 'This list' },
  { keys: ['Enter'], what: 'Send the message; Shift Enter begins a new line' },
  { keys: ['↑'], what: 'In an empty message field: edit your last question' },
  { keys: ['Esc'], what: 'Stop the answer, or close the open dialog' },
  { keys: ['↑', '↓'], what: 'In the task list: move between tasks' },
  { keys: ['E'], what: 'On a task: edit it' },
  { keys: ['Delete'], what: 'On a task: delete it' },
  { keys: ['Alt', '↑'], what: 'On a task or a track of a playlist: move it up; with ↓ down' },
  { keys: ['Ctrl', 'A'], what: 'In the list of tracks: select all of them; Shift selects a range' },
];

export const isApple = () => /Mac|iPhone|iPad/.test(navigator.platform);

/** Apple keyboards have ⌘ in place of Ctrl. */
export const keyName = (key: string) => (key === 'Ctrl' && isApple() ? '⌘' : key);
