// Signing in where another service issues the tokens: a token is fetched there and exchanged here for a session cookie,
// again before it ends. The token is kept nowhere on the page.
import { ApiError, send } from './client';

/** Where tokens come from and where people sign in; from `/api/about`. */
export interface Issuer {
  tokenUrl: string;
  signInUrl: string;
}

/** What became of an attempt: signed in, signed out at the issuer, or the issuer did not answer. */
export type Attempt = 'signed-in' | 'signed-out' | 'unreachable';

/** A session is renewed when this much of its time is left, at most. */
const RENEW_BEFORE_MS = 60_000;
const AGAIN_AFTER_MS = 30_000;
/** Coming back to the tab asks the issuer again, but not more often than this. */
const LOOK_EVERY_MS = 10_000;

export async function signInWith(issuer: Issuer): Promise<{ attempt: Attempt; expiresAt?: number }> {
  let token: string | null;
  try {
    token = await fetchToken(issuer.tokenUrl);
  } catch {
    return { attempt: 'unreachable' };
  }
  if (token === null) return { attempt: 'signed-out' };
  try {
    const response = await send('/api/auth/session', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    const { expiresAt } = (await response.json()) as { expiresAt: string };
    return { attempt: 'signed-in', expiresAt: Date.parse(expiresAt) };
  } catch (error) {
    // A token that Segue does not accept is as good as none; anything else may pass.
    return { attempt: error instanceof ApiError && error.status === 401 ? 'signed-out' : 'unreachable' };
  }
}

/** The token, or null without a session at the issuer. */
async function fetchToken(url: string): Promise<string | null> {
  const response = await fetch(url, { credentials: 'include', headers: { accept: 'application/json' } });
  if (response.status === 401 || response.status === 403) return null;
  if (!response.ok) throw new Error(`the issuer answered ${response.status}`);
  const body = (await response.json()) as { token?: unknown } | null;
  return typeof body?.token === 'string' ? body.token : null;
}

/** The issuer's sign-in page, told where to come back to: in place of `{return}`, or as `callbackURL`. */
export function signInLink(issuer: Issuer, here: string): string {
  if (issuer.signInUrl.includes('{return}')) return issuer.signInUrl.replace('{return}', encodeURIComponent(here));
  const link = new URL(issuer.signInUrl);
  link.searchParams.set('callbackURL', here);
  return link.href;
}

/** Keeps the session alive while the page is open; who signs out at the issuer is signed out here. */
export function keepSignedIn(issuer: Issuer, onSignedOut: () => void, expiresAt?: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastLook = Date.now();
  let over = false;
  const plan = (at: number) => {
    clearTimeout(timer);
    if (!over) timer = setTimeout(() => void look(), Math.max(1_000, at - Date.now()));
  };
  const look = async () => {
    lastLook = Date.now();
    const { attempt, expiresAt: next } = await signInWith(issuer);
    if (over) return;
    if (attempt === 'signed-out') {
      over = true;
      await send('/api/auth/sign-out', { method: 'POST' }).catch(() => undefined);
      onSignedOut();
    } else plan(attempt === 'signed-in' && next !== undefined ? renewalTime(next) : Date.now() + AGAIN_AFTER_MS);
  };
  const onVisible = () => {
    if (document.visibilityState === 'visible' && Date.now() - lastLook >= LOOK_EVERY_MS) void look();
  };
  document.addEventListener('visibilitychange', onVisible);
  window.addEventListener('focus', onVisible);
  if (expiresAt === undefined) void look();
  else plan(renewalTime(expiresAt));
  return () => {
    over = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisible);
    window.removeEventListener('focus', onVisible);
  };
}

/** A minute before the end; for short sessions after half of their time. */
export function renewalTime(expiresAt: number, now: number = Date.now()): number {
  const left = expiresAt - now;
  return now + Math.max(left - RENEW_BEFORE_MS, left / 2);
}
