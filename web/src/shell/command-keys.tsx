// Keys that work on every page. The palette and the list of keys are loaded when they are first used.
import { Suspense, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { isTyping, withCommand } from '../ui/keys';
import { lazyPage } from '../ui/lazy-page';
import { onPaletteWanted } from './open-palette';

const palette = lazyPage<{ onClose: () => void; onKeys: () => void }>(() => import('./palette'));
const keys = lazyPage<{ onClose: () => void }>(() => import('./keys-dialog'));

type Open = 'palette' | 'keys' | null;

export function CommandKeys() {
  const [open, setOpen] = useState<Open>(null);
  const [, navigate] = useLocation();
  const close = () => setOpen(null);

  useEffect(() => onPaletteWanted(() => setOpen('palette')), []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const wanted = commandOf(event);
      if (!wanted || event.defaultPrevented) return;
      event.preventDefault();
      if (wanted === 'new chat') navigate('/');
      else if (wanted === 'field') focusField();
      else setOpen((now) => (now === wanted ? null : wanted));
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [navigate]);

  return (
    <Suspense>
      {open === 'palette' && <palette.Component onClose={close} onKeys={() => setOpen('keys')} />}
      {open === 'keys' && <keys.Component onClose={close} />}
    </Suspense>
  );
}

function commandOf(event: KeyboardEvent): 'palette' | 'keys' | 'new chat' | 'field' | null {
  const key = event.key.toLowerCase();
  if (withCommand(event) && !event.altKey) {
    if (key === 'k' && !event.shiftKey) return 'palette';
    return key === 'o' && event.shiftKey ? 'new chat' : null;
  }
  if (isTyping(event.target) || event.altKey || document.querySelector('dialog[open]')) return null;
  if (key === '?') return 'keys';
  return key === '/' ? 'field' : null;
}

function focusField(): void {
  const field = document.querySelector<HTMLElement>(
    '#main textarea, #main input[type="search"], #main input.field, nav input[type="search"]',
  );
  field?.focus();
}
