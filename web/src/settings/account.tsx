// The signed-in person: name, password, sessions. Only where the server has accounts.
import { useQueryClient } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { explain, post } from '../api/client';
import type { Me } from '../api/types';
import { msg, t } from '../i18n';
import { toast, toastError } from '../ui/toast';

const MODES: Record<Me['mode'], string> = {
  local: msg('This Segue belongs to one person on this machine, without a sign-in.'),
  accounts: msg('Signed in.'),
  jwt: msg('Signed in through another service.'),
};

export function Account({ me }: { me: Me }) {
  const queries = useQueryClient();
  const leave = (path: string) => post(path, {}).then(() => queries.resetQueries(), toastError);
  return (
    <div className="account">
      <p>
        <strong>{me.mode === 'local' ? t('You') : me.name}</strong>
        <span>{t(MODES[me.mode] ?? '')}</span>
      </p>
      {me.mode === 'accounts' && (
        <>
          <details className="account-password">
            <summary>{t('Change password')}</summary>
            <ChangePassword />
          </details>
          <div className="account-actions">
            <button type="button" className="button" onClick={() => void leave('/api/auth/sign-out')}>
              <LogOut size={16} aria-hidden /> {t('Sign out')}
            </button>
            <button type="button" className="button danger" onClick={() => void leave('/api/auth/sign-out-everywhere')}>
              {t('Sign out everywhere')}
            </button>
          </div>
        </>
      )}
    </div>
  );
}

function ChangePassword() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [problem, setProblem] = useState<string | null>(null);

  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    setProblem(null);
    try {
      await post('/api/auth/password', { current, next });
      setCurrent('');
      setNext('');
      toast(t('Password changed'));
    } catch (error) {
      setProblem(explain(error));
    }
  };
  return (
    <form className="account-form" onSubmit={(event) => void onSubmit(event)}>
      <label>
        {t('Current password')}
        <input
          className="field"
          type="password"
          autoComplete="current-password"
          required
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
      </label>
      <label>
        {t('New password')}
        <input
          className="field"
          type="password"
          autoComplete="new-password"
          required
          minLength={8}
          value={next}
          onChange={(event) => setNext(event.target.value)}
        />
      </label>
      {problem && (
        <p className="notice" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" className="button" disabled={!current || !next}>
        {t('Change password')}
      </button>
    </form>
  );
}
