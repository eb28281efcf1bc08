// The worker that keeps the page itself at hand without a network. Only the built page has one.
export function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  // After everything a first visit waits for.
  window.addEventListener('load', () => {
    navigator.serviceWorker.register('/sw.js').catch((error: unknown) => console.warn('no service worker:', error));
  });
}
