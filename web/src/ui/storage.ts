// Small values in the browser's storage. If storage is not available, nothing is saved.

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
    // Not available or full: the text is still on screen and would only be lost by a reload.
  }
}

/** Unsent text belongs to the user who wrote it: it is deleted when another user signs in. */
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
