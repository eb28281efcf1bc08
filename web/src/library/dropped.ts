// The files behind something dropped or chosen: folders are walked to their leaves.
import { t } from '../i18n';

/** What is worth sending from inside a folder: covers, logs and booklets are left where they are. */
const USABLE =
  /\.(csv|tsv|txt|json|jsonl|xml|m3u|m3u8|xspf|jspf|zip|mp3|flac|ogg|oga|opus|m4a|m4b|aac|alac|wav|wave|aif|aiff|wv|ape|mpc|wma)$/i;

export class NothingUsable extends Error {
  constructor() {
    super(t('There is nothing to import in there: no playlist, no export and no audio file.'));
  }
}

/** The worthwhile files of a chosen folder. */
export async function usableOf(files: File[]): Promise<File[]> {
  const usable = files.filter(({ name }) => !name.startsWith('.') && USABLE.test(name));
  if (files.length > 0 && usable.length === 0) throw new NothingUsable();
  return usable;
}

/** Must be called while the drop event is being handled: afterwards the browser forgets the entries. */
export function entriesOf(transfer: DataTransfer): FileSystemEntry[] {
  return [...transfer.items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
}

/** A file dropped by itself is always taken; the server says what is wrong with it. */
export async function filesOf(entries: FileSystemEntry[]): Promise<File[]> {
  const found = await Promise.all(
    entries.map((entry) => (entry.isDirectory ? walk(entry as FileSystemDirectoryEntry) : [fileOf(entry as FileSystemFileEntry)])),
  );
  const files = await Promise.all(found.flat());
  if (files.length === 0) throw new NothingUsable();
  return files;
}

async function walk(folder: FileSystemDirectoryEntry): Promise<Promise<File>[]> {
  const files: Promise<File>[] = [];
  for (const entry of await childrenOf(folder)) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory) files.push(...(await walk(entry as FileSystemDirectoryEntry)));
    else if (USABLE.test(entry.name)) files.push(fileOf(entry as FileSystemFileEntry));
  }
  return files;
}

/** A reader gives at most a hundred at a time and an empty list at the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

/** A file that was moved or is locked would look like a dead server to `fetch`. */
export async function checkReadable(files: File[]): Promise<void> {
  for (const file of files) {
    try {
      await file.slice(0, 1).arrayBuffer();
    } catch {
      throw new Error(t('“{name}” cannot be read. It may have been moved, or another program holds it.', { name: file.name }));
    }
  }
}

const MOST_BYTES = 200 << 20;
const MOST_FILES = 200;

/** Portions a server takes in one request. */
export function inPortions(files: File[]): File[][] {
  const portions: File[][] = [];
  let bytes = Infinity;
  for (const file of files) {
    const last = portions.at(-1);
    if (!last || bytes + file.size > MOST_BYTES || last.length >= MOST_FILES) {
      portions.push([file]);
      bytes = file.size;
    } else {
      last.push(file);
      bytes += file.size;
    }
  }
  return portions;
}
