// Registers the service worker, which caches the page for use without a network. Only the production build has one.
export function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  // After everything that the first visit needs.
  window.addEventListener('load', () => {
    navigator.serviceWorker.register('/sw.js').catch((error: unknown) => console.warn('no service worker:', error));
  });
}
