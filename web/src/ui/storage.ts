// Small things the browser remembers for us. Where storage is forbidden, it simply does not remember.

const OWNER = 'segue.owner';

export function recall(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // Forbidden or full: the words are still on screen, only a reload would lose them.
  }
}

/** Unsent words belong to the person who wrote them: whoever comes in after someone else finds none. */
export function keepFor(userId: string): void {
  if (recall(OWNER) === userId) return;
  try {
    Object.keys(sessionStorage)
      .filter((key) => key.startsWith('segue.'))
      .forEach((key) => sessionStorage.removeItem(key));
  } catch {
    return;
  }
  remember(OWNER, userId);
}
