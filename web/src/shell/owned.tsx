// Unsent text in this tab belongs to one user.
import { useLayoutEffect, useState, type ReactNode } from 'react';
import { recoverPending } from '../chat/pending';
import { keepFor } from '../ui/storage';

/** Deletes the unsent text of another user before a child can read it. `by` is undefined while the server does not answer. */
export function Owned({ by, children }: { by?: string; children: ReactNode }) {
  const [ready, setReady] = useState(false);
  // Layout effects run before the browser paints, so the first frame shows the children.
  useLayoutEffect(() => {
    if (by !== undefined) keepFor(by);
  }, [by]);
  useLayoutEffect(() => {
    // After that: what is still on its way belongs to the same user.
    recoverPending();
    setReady(true);
  }, []);
  return ready ? children : null;
}
