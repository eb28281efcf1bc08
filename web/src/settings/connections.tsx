// The operator connects the model, the catalogue and the embedder. A secret is sent once and never comes back.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { explain, getJson, post, putJson, remove } from '../api/client';
import { refresh } from '../api/refresh';
import { msg, t } from '../i18n';
import type { Checked, ConnectionLine, Connections as ConnectionList, NewConnection, ProviderLine } from '../api/types';
import { Failed, SkeletonRows } from '../ui/states';
import { toast } from '../ui/toast';
import './connections.css';

const PATH = '/api/settings/connections';

export function Connections() {
  const { data, error } = useQuery({
    queryKey: ['connections'],
    queryFn: ({ signal }) => getJson<ConnectionList>(PATH, signal),
  });
  if (error) return <Failed error={error} />;
  if (!data) return <SkeletonRows rows={3} height={24} label={t('Loading connections')} />;
  return (
    <div className="connections">
      {data.missingKey && <p className="notice">{data.missingKey}</p>}
      {data.connections.map((line) => (
        <Connection key={line.service} line={line} providers={data.providers} canStore={!data.missingKey} />
      ))}
    </div>
  );
}

const NAMES = { model: msg('Model'), catalogue: msg('Tidal catalogue'), embedder: msg('Embedder') };
const PURPOSES = {
  model: msg('Answers in every conversation.'),
  catalogue: msg('Searches for music outside your library.'),
  embedder: msg('Finds tracks by meaning. The built-in one works without a connection.'),
};

interface Props {
  line: ConnectionLine;
  providers: ProviderLine[];
}

function Connection({ line, providers, canStore }: Props & { canStore: boolean }) {
  const heading = useId();
  const isFixed = line.state === 'settings';
  return (
    <section className="connection" aria-labelledby={heading}>
      <h3 id={heading}>{t(NAMES[line.service])}</h3>
      <p>{t(PURPOSES[line.service])}</p>
      <p className="connection-state">{stateOf(line)}</p>
      {line.problem && <p className="notice">{line.problem}</p>}
      {line.atNextStart && <p>{t('Takes effect at the next start of Segue.')}</p>}
      {isFixed ? (
        <p>
          {t('A setting of the server wins over this page:')}{' '}
          {line.settings?.map((name) => (
            <code key={name}>{name}</code>
          ))}
        </p>
      ) : (
        canStore && <ConnectionForm line={line} providers={providers} />
      )}
    </section>
  );
}

function stateOf({ state, url, model, clientId, hasSecret }: ConnectionLine): string {
  if (state === 'off') return t('Not connected');
  if (state === 'settings') return t('Connected by a setting of the server');
  if (state === 'unreadable') return t('Stored with another SEGUE_SECRET_KEY and cannot be read. Enter it again.');
  const parts = [url ?? clientId, model, hasSecret ? t('secret stored') : t('without a secret')];
  return t('Connected: {details}', { details: parts.filter(Boolean).join(' · ') });
}

type Values = Record<'provider' | 'url' | 'model' | 'key' | 'clientId' | 'clientSecret', string>;

/** What is sent: a secret field that was left empty is not, so that a stored secret stays. */
function sent(service: ConnectionLine['service'], values: Values): NewConnection {
  const key = values.key || undefined;
  const model = values.model || undefined;
  if (service === 'catalogue') return { clientId: values.clientId, clientSecret: values.clientSecret || undefined };
  if (service === 'embedder') return { url: values.url, model, key };
  return { provider: values.provider as NewConnection['provider'], url: values.url || undefined, model, key };
}

function ConnectionForm({ line, providers }: Props) {
  const { service } = line;
  const isStored = line.state !== 'off';
  const start: Values = {
    provider: line.provider ?? providers[0]?.name ?? '',
    url: line.url ?? '',
    model: line.model ?? '',
    clientId: line.clientId ?? '',
    key: '',
    clientSecret: '',
  };
  const [values, setValues] = useState(start);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<Checked | null>(null);
  const queries = useQueryClient();
  const path = `${PATH}/${service}`;

  const act = async (work: () => Promise<Checked | null>) => {
    setBusy(true);
    setSaid(null);
    try {
      setSaid(await work());
    } catch (error) {
      setSaid({ well: false, says: explain(error) });
    } finally {
      setBusy(false);
    }
  };
  const changed = () => Promise.all(['connections', 'models', 'about'].map((queryKey) => refresh(queries, [queryKey])));
  const test = () => act(() => post<Checked>(`${path}/test`, { connection: sent(service, values) }));
  const save = (event: FormEvent) => {
    event.preventDefault();
    void act(async () => {
      await putJson<ConnectionLine>(path, sent(service, values));
      setValues((now) => ({ ...now, key: '', clientSecret: '' }));
      toast(t('{name} saved', { name: t(NAMES[service]) }));
      await changed();
      return null;
    });
  };
  const disconnect = () =>
    act(async () => {
      await remove(path);
      setValues({ ...start, url: '', model: '', clientId: '' });
      toast(t('{name} disconnected', { name: t(NAMES[service]) }));
      await changed();
      return null;
    });
  const field = (name: keyof Values, label: string, more: { type?: string; placeholder?: string } = {}) => (
    <Field label={label}>
      <input
        className="field"
        type={more.type ?? 'text'}
        placeholder={more.placeholder}
        autoComplete={more.type === 'password' ? 'new-password' : 'off'}
        spellCheck={false}
        dir="auto"
        value={values[name]}
        onChange={(event) => setValues((now) => ({ ...now, [name]: event.target.value }))}
      />
    </Field>
  );
  const secretHint = line.hasSecret ? t('Stored. Leave empty to keep it.') : '';
  return (
    <form className="connection-form" onSubmit={save}>
      {service === 'model' && (
        <Field label={t('Provider')}>
          <select
            className="field"
            value={values.provider}
            onChange={(event) => setValues((now) => ({ ...now, provider: event.target.value }))}
          >
            {providers.map(({ name, title }) => (
              <option key={name} value={name}>
                {name === 'openai' ? t('OpenAI, or a server with the same API') : title}
              </option>
            ))}
          </select>
        </Field>
      )}
      {service === 'catalogue' ? (
        <>
          {field('clientId', t('Client ID'))}
          {field('clientSecret', t('Client secret'), { type: 'password', placeholder: secretHint })}
        </>
      ) : (
        <>
          {field('url', t('Server address'), { placeholder: service === 'model' ? t('The provider’s own') : 'https://…' })}
          {field('model', t('Model name'), { placeholder: t('The server’s own') })}
          {field('key', t('Key'), { type: 'password', placeholder: secretHint })}
        </>
      )}
      <div className="connection-actions">
        <button type="submit" className="button" disabled={busy}>
          {t('Save')}
        </button>
        <button type="button" className="button" disabled={busy} onClick={() => void test()}>
          {busy ? t('Asking…') : t('Test')}
        </button>
        {isStored && (
          <button type="button" className="button" disabled={busy} onClick={() => void disconnect()}>
            {t('Disconnect')}
          </button>
        )}
      </div>
      <p className={said && !said.well ? 'notice' : undefined} role="status">
        {said && (said.well ? t('It works: {details}', { details: said.says }) : t('It does not work: {details}', { details: said.says }))}
      </p>
    </form>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <label>
      {label}
      {children}
    </label>
  );
}
