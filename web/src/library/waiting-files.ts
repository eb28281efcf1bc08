// Files chosen or dropped before the library page was there to take them.
let waiting: Promise<File[]> | null = null;

export function leaveForImport(files: Promise<File[]>): void {
  // The page that takes the files handles a failure; until then it must not count as unhandled.
  files.catch(() => undefined);
  waiting = files;
}

export function takeWaiting(): Promise<File[]> | null {
  const files = waiting;
  waiting = null;
  return files;
}
