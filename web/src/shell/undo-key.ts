// Ctrl Z (⌘ Z) undoes the last action on the page. In a text field it keeps its usual meaning.
import { useEffect } from 'react';
import { isTyping, withCommand } from '../ui/keys';
import { undoLast } from '../ui/toast';

export function useUndoKey(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!withCommand(event) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'z') return;
      if (isTyping(event.target) && (event.target as HTMLInputElement).value !== '') return;
      if (undoLast()) event.preventDefault();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}
