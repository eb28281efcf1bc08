// The command palette: type a few letters, press Enter.
import {
  Disc3,
  Download,
  Keyboard,
  ListChecks,
  ListMusic,
  MessageSquare,
  Moon,
  Settings,
  SquarePen,
  Sun,
  Trash2,
  Undo2,
  type LucideIcon,
} from 'lucide-react';
import { useState, type KeyboardEvent } from 'react';
import { useLocation } from 'wouter';
import { useAbout, useConversations } from '../api/queries';
import { iconOf, newChatWith } from '../chat/agents';
import { shownTitle } from '../history/shown-title';
import { t } from '../i18n';
import { setTheme } from '../settings/theme';
import { useDebounced } from '../ui/debounced';
import { Dialog } from '../ui/dialog';
import { isComposing } from '../ui/keys';
import { undoLast } from '../ui/toast';
import './palette.css';

interface Command {
  id: string;
  label: string;
  icon: LucideIcon;
  run: () => void;
}

export default function Palette({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }) {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const commands = useCommands(words.trim(), onKeys);
  const chosen = Math.min(at, commands.length - 1);

  const run = (command: Command | undefined) => {
    if (!command) return;
    // The palette closes before the command runs, because a command may open another dialog.
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((chosen + step + commands.length) % Math.max(1, commands.length));
    else if (event.key === 'Enter') run(commands[chosen]);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title={t('Find anything')} hideTitle onClose={onClose}>
      <div className="palette">
        <input
          className="field"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={commands[chosen] ? `palette-${commands[chosen].id}` : undefined}
          aria-label={t('Find anything')}
          placeholder={t('Search pages, conversations and actions')}
          dir="auto"
          data-autofocus
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <ul id="palette-list" role="listbox" aria-label={t('Found')}>
          {commands.map((command, row) => (
            <li
              key={command.id}
              id={`palette-${command.id}`}
              role="option"
              aria-selected={row === chosen}
              onPointerMove={() => setAt(row)}
              onClick={() => run(command)}
            >
              <command.icon size={16} aria-hidden /> <span dir="auto">{command.label}</span>
            </li>
          ))}
        </ul>
        {commands.length === 0 && <p className="tool-note">{t('No matching command.')}</p>}
      </div>
    </Dialog>
  );
}

function useCommands(words: string, onKeys: () => void): Command[] {
  const [, navigate] = useLocation();
  const q = useDebounced(words);
  const { data, isPlaceholderData } = useConversations(q);
  const { data: about } = useAbout();
  const otherAgents = about?.agents.slice(1) ?? [];
  const isCurrent = q === words && !isPlaceholderData;
  const go = (href: string) => () => navigate(href);
  const fixed: Command[] = [
    { id: 'new', label: t('New chat'), icon: SquarePen, run: go('/') },
    ...otherAgents.map((agent): Command => ({
      id: `new-${agent.id}`,
      label: t('New chat: {agent}', { agent: t(agent.title) }),
      icon: iconOf(agent),
      run: go(newChatWith(agent.id)),
    })),
    { id: 'tasks', label: t('Tasks'), icon: ListChecks, run: go('/tasks') },
    { id: 'library', label: t('Library'), icon: Disc3, run: go('/library') },
    { id: 'playlists', label: t('Playlists'), icon: ListMusic, run: go('/playlists') },
    { id: 'trash', label: t('Trash'), icon: Trash2, run: go('/trash') },
    { id: 'settings', label: t('Settings'), icon: Settings, run: go('/settings') },
    { id: 'undo', label: t('Undo the last action'), icon: Undo2, run: () => void undoLast() },
    { id: 'light', label: t('Light theme'), icon: Sun, run: () => setTheme('light') },
    { id: 'dark', label: t('Dark theme'), icon: Moon, run: () => setTheme('dark') },
    { id: 'export', label: t('Export everything'), icon: Download, run: () => window.location.assign('/api/export') },
    { id: 'keys', label: t('Keyboard shortcuts'), icon: Keyboard, run: onKeys },
  ];
  // What an earlier word found stays until the new answer is there, but only where it still fits: Enter opens the first.
  const fits = ({ title }: { title: string }) => isCurrent || title.toLowerCase().includes(words.toLowerCase());
  const conversations = (data?.pages[0]?.conversations ?? [])
    .map((conversation) => ({ id: conversation.id, title: shownTitle(conversation) }))
    .filter(fits)
    .slice(0, words === '' ? 5 : 10)
    .map(({ id, title }): Command => ({ id, label: title, icon: MessageSquare, run: go(`/c/${id}`) }));
  const wanted = words.toLowerCase();
  return [...fixed.filter(({ label }) => label.toLowerCase().includes(wanted)), ...conversations];
}
