// Keeps the files of one build for days without a network. Data is never kept: requests to the API are not touched.
const CACHE = 'segue-__VERSION__';
const FILES = __FILES__;

self.addEventListener('install', (event) => {
  // `reload`: a cache in between must not mix two builds.
  const kept = caches.open(CACHE).then((cache) => cache.addAll(FILES.map((file) => new Request(file, { cache: 'reload' }))));
  event.waitUntil(kept.then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  const swept = caches.keys().then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))));
  event.waitUntil(swept.then(() => self.clients.claim()));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== self.location.origin) return;
  // The network first, so that a new build is seen at once; the kept page when there is none.
  if (request.mode === 'navigate' && isOfThePage(url.pathname)) {
    event.respondWith(fetch(request).catch(() => caches.match('/index.html')));
  } else if (FILES.includes(url.pathname)) {
    event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
  }
});

/** Addresses the page draws itself. Downloads and machine endpoints are left to the network. */
function isOfThePage(path) {
  return path === '/' || /^\/(c\/|tasks$|library$|playlists$|settings$)/.test(path);
}
