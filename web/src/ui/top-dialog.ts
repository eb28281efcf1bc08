// Which modal dialog is on top. Everything outside of it is inert: what must be heard and reached has to stand inside.

const open: HTMLDialogElement[] = [];
const listeners = new Set<() => void>();
const tell = () => listeners.forEach((listener) => listener());

export const topDialog = {
  get: (): HTMLDialogElement | null => open.at(-1) ?? null,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

export function entered(dialog: HTMLDialogElement): () => void {
  open.push(dialog);
  tell();
  return () => {
    open.splice(open.indexOf(dialog), 1);
    tell();
  };
}
