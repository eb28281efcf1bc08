// Ctrl Z (⌘ Z) takes back the last thing done on the page. In a field that holds text it is the field's own.
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
