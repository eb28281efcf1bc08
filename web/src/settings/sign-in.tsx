// The sign-in page, for modes with authentication: sign in, or sign up with an invitation.
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { explain, post } from '../api/client';
import { signInLink, signInWith, type Attempt, type Issuer } from '../api/issuer';
import { t } from '../i18n';
import { Logo } from '../shell/logo';
import { usePageTitle } from '../shell/page-title';
import './settings.css';

export default function SignIn({ mode, issuer, onSignedIn }: { mode: string; issuer?: Issuer; onSignedIn: () => void }) {
  usePageTitle(t('Sign in'));
  return (
    <main className="sign-in">
      <div className="sign-in-card rise">
        <p className="brand">
          <Logo size={34} /> Segue
        </p>
        {mode === 'accounts' ? (
          <AccountSignIn onSignedIn={onSignedIn} />
        ) : issuer ? (
          <IssuerSignIn issuer={issuer} onSignedIn={onSignedIn} />
        ) : (
          <>
            <h1>{t('Signed out')}</h1>
            <p>
              {t(
                'This Segue takes its sign-in from another service, and this page was not told where that is. The operator sets SEGUE_TOKEN_URL and SEGUE_SIGN_IN_URL.',
              )}
            </p>
          </>
        )}
      </div>
    </main>
  );
}

/** A session at the issuer signs in at once; without one, the page links to the issuer. */
function IssuerSignIn({ issuer, onSignedIn }: { issuer: Issuer; onSignedIn: () => void }) {
  const [attempt, setAttempt] = useState<Attempt | 'asking'>('asking');
  const comeIn = useRef(onSignedIn);
  useEffect(() => {
    comeIn.current = onSignedIn;
  });

  useEffect(() => {
    let gone = false;
    const enter = async () => {
      const { attempt } = await signInWith(issuer);
      if (gone) return;
      if (attempt === 'signed-in') comeIn.current();
      else setAttempt(attempt);
    };
    const onFocus = () => void enter();
    void enter();
    // Signed in in another tab meanwhile.
    window.addEventListener('focus', onFocus);
    return () => {
      gone = true;
      window.removeEventListener('focus', onFocus);
    };
  }, [issuer]);

  if (attempt === 'asking') return <p role="status">{t('Signing in…')}</p>;
  return (
    <>
      <header>
        <h1>{t('Sign in')}</h1>
        <p>{t('Your conversations, tasks and music are behind this page.')}</p>
      </header>
      {attempt === 'unreachable' && (
        <p className="notice" role="alert">
          {t('The sign-in service cannot be reached right now.')}
        </p>
      )}
      <a className="button primary" href={signInLink(issuer, window.location.href)}>
        {t('Sign in at {host}', { host: new URL(issuer.signInUrl).host })}
      </a>
    </>
  );
}

function AccountSignIn({ onSignedIn }: { onSignedIn: () => void }) {
  const [joining, setJoining] = useState(false);
  const [invitation, setInvitation] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      if (joining) await post('/api/auth/sign-up', { invitation: invitation.trim(), name: name.trim(), password });
      else await post('/api/auth/sign-in', { name: name.trim(), password });
      onSignedIn();
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };

  return (
    <>
      <header>
        <h1>{joining ? t('Join Segue') : t('Sign in')}</h1>
        <p>
          {joining
            ? t('An invitation comes from the person who runs this server.')
            : t('Your conversations, tasks and music are behind this page.')}
        </p>
      </header>
      <form className="account-form" onSubmit={(event) => void onSubmit(event)}>
        {joining && (
          <label>
            {t('Invitation')}
            <input
              className="field"
              required
              autoComplete="off"
              value={invitation}
              onChange={(event) => setInvitation(event.target.value)}
            />
          </label>
        )}
        <label>
          {t('Name')}
          <input
            className="field"
            required
            autoComplete="username"
            autoFocus
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label>
          {t('Password')}
          <input
            className="field"
            type="password"
            required
            minLength={joining ? 8 : undefined}
            autoComplete={joining ? 'new-password' : 'current-password'}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </label>
        {problem && (
          <p className="notice" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" className="button primary" disabled={busy}>
          {joining ? t('Join') : t('Sign in')}
        </button>
        <button
          type="button"
          className="button quiet"
          onClick={() => {
            setJoining(!joining);
            setProblem(null);
          }}
        >
          {joining ? t('I already have an account') : t('I have an invitation')}
        </button>
      </form>
    </>
  );
}
