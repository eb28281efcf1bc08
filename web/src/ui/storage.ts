// Small things the browser remembers for us. Where storage is forbidden, it simply does not remember.

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
