// Opens the palette by a button, for devices without a keyboard.
const listeners = new Set<() => void>();

export function openPalette(): void {
  listeners.forEach((listener) => listener());
}

export function onPaletteWanted(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
