import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepSignedIn, renewalTime, signInLink, signInWith } from './issuer';

const issuer = { tokenUrl: 'https://id.example/api/auth/token', signInUrl: 'https://id.example/sign-in' };
const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

describe('signing in with another issuer', () => {
  let asked: [string, RequestInit | undefined][];
  let answers: Record<string, () => Response>;

  beforeEach(() => {
    asked = [];
    answers = {
      [issuer.tokenUrl]: () => json(200, { token: 'a.b.c' }),
      '/api/auth/session': () => json(200, { expiresAt: new Date(Date.now() + 900_000).toISOString() }),
      '/api/auth/sign-out': () => new Response(null, { status: 204 }),
    };
    vi.stubGlobal('fetch', (url: string, init?: RequestInit) => {
      asked.push([url, init]);
      return Promise.resolve(answers[url]!());
    });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('exchanges the token of the issuer for a session of ours', async () => {
    expect((await signInWith(issuer)).attempt).toBe('signed-in');
    expect(asked.map(([url]) => url)).toEqual([issuer.tokenUrl, '/api/auth/session']);
    expect(asked[0]![1]!.credentials).toBe('include');
    expect(new Headers(asked[1]![1]!.headers).get('authorization')).toBe('Bearer a.b.c');
  });

  it('tells nobody signed in there from an issuer that does not answer', async () => {
    answers[issuer.tokenUrl] = () => json(401, {});
    expect((await signInWith(issuer)).attempt).toBe('signed-out');
    answers[issuer.tokenUrl] = () => json(200, null);
    expect((await signInWith(issuer)).attempt).toBe('signed-out');
    answers[issuer.tokenUrl] = () => json(502, {});
    expect((await signInWith(issuer)).attempt).toBe('unreachable');
    answers[issuer.tokenUrl] = () => json(200, { token: 'a.b.c' });
    answers['/api/auth/session'] = () => json(401, { error: { code: 'UNAUTHORIZED', message: 'no' } });
    expect((await signInWith(issuer)).attempt).toBe('signed-out');
  });

  it('links to the sign-in page with the way back', () => {
    expect(signInLink(issuer, 'https://segue.example/c/1')).toBe(
      'https://id.example/sign-in?callbackURL=https%3A%2F%2Fsegue.example%2Fc%2F1',
    );
    const placed = { ...issuer, signInUrl: 'https://id.example/login?next={return}' };
    expect(signInLink(placed, 'https://segue.example/?a=1')).toBe('https://id.example/login?next=https%3A%2F%2Fsegue.example%2F%3Fa%3D1');
  });

  it('renews before the end, and signs out here when the issuer says so', async () => {
    vi.useFakeTimers();
    expect(renewalTime(900_000, 0)).toBe(840_000);
    expect(renewalTime(60_000, 0)).toBe(30_000);
    const out = vi.fn();
    const stop = keepSignedIn(issuer, out, Date.now() + 900_000);
    await vi.advanceTimersByTimeAsync(839_000);
    expect(asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked.map(([url]) => url)).toEqual([issuer.tokenUrl, '/api/auth/session']);
    answers[issuer.tokenUrl] = () => json(401, {});
    await vi.advanceTimersByTimeAsync(900_000);
    expect(asked.map(([url]) => url).slice(2)).toEqual([issuer.tokenUrl, '/api/auth/sign-out']);
    expect(out).toHaveBeenCalledOnce();
    stop();
  });
});
