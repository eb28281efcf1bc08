// Lazily loaded parts of the page. They are preloaded while the server answers, and loading is retried automatically.
import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import { recall, remember } from './storage';

const RELOADED = 'segue.reloaded';
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000];

interface LazyPage<P> {
  Component: LazyExoticComponent<ComponentType<P>>;
  /** Loads it now. A failure here is retried when the part is needed. */
  preload: () => void;
}

// oxlint-disable-next-line typescript/no-explicit-any
export function lazyPage<P = any>(load: () => Promise<{ default: ComponentType<P> }>): LazyPage<P> {
  let loading: Promise<{ default: ComponentType<P> }> | null = null;
  const once = () => {
    loading ??= load().then(loaded, (error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  return { Component: lazy(() => persist(once)), preload: () => void once().catch(() => undefined) };
}

function loaded<T>(module: T): T {
  remember(RELOADED, null);
  return module;
}

/** The skeleton stays on screen until the server is back; the user need not do anything. */
async function persist<T>(load: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await load();
    } catch (error) {
      if (tries >= 2 && (await isServerUp())) reloadOnce(error);
      await pause(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 8_000);
    }
  }
}

/** The server answers but the file is missing: the page is from an older build. It is reloaded, once. */
function reloadOnce(error: unknown): void {
  if (recall(RELOADED) !== null) throw error;
  remember(RELOADED, 'yes');
  window.location.reload();
}

async function isServerUp(): Promise<boolean> {
  try {
    return (await fetch('/healthz')).ok;
  } catch {
    return false;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener('online', done);
  });
}
