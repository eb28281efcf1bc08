// Opening the palette by a button: where there is no keyboard there is no Ctrl K.
const listeners = new Set<() => void>();

export function openPalette(): void {
  listeners.forEach((listener) => listener());
}

export function onPaletteWanted(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
