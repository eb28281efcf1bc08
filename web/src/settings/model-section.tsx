// Which model answers, and which model servers of this machine could. Only for operators.
import { useQueryClient } from '@tanstack/react-query';
import { Check, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { explain, post } from '../api/client';
import { useModels } from '../api/models';
import { refresh } from '../api/refresh';
import type { Active, Server } from '../api/types';
import { t } from '../i18n';
import { Failed, SkeletonRows } from '../ui/states';
import { toast } from '../ui/toast';
import './model-section.css';

export function ModelSection() {
  const { data, error, isFetching, refetch } = useModels();
  if (error) return <Failed error={error} />;
  if (!data) return <SkeletonRows rows={2} height={24} label={t('Looking for models')} />;
  if (!data.active) return null;
  return (
    <div className="models">
      <Answering active={data.active} />
      {data.active.chosenBy !== 'settings' && (
        <>
          <Servers active={data.active} servers={data.found ?? []} />
          <button type="button" className="button small" disabled={isFetching} onClick={() => void refetch()}>
            <RefreshCw size={14} aria-hidden /> {isFetching ? t('Looking…') : t('Look again')}
          </button>
        </>
      )}
    </div>
  );
}

function Answering({ active }: { active: Active }) {
  const isBuiltIn = active.id === 'offline';
  return (
    <p className="model-active">
      <strong>{isBuiltIn ? t('Built-in offline model') : active.id.replace(/^[a-z]+:/, '')}</strong>
      <span>
        {active.chosenBy === 'settings' && t('A setting of the server names this model. A setting wins over a choice on this page.')}
        {active.chosenBy === 'operator' && t('Answers from {server}.', { server: active.server ?? '' })}
        {active.chosenBy === 'connection' && t('Answers from {server}, as connected below.', { server: active.server ?? '' })}
        {active.chosenBy === 'default' && t('Answers by rules, without a network. Connect a model server for real conversations.')}
      </span>
    </p>
  );
}

function Servers({ active, servers }: { active: Active; servers: Server[] }) {
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const queries = useQueryClient();
  const choose = async (server?: string, model?: string) => {
    setBusy(model ?? 'offline');
    setProblem(null);
    try {
      await post('/api/models/select', { server, model });
      toast(model ? t('{model} answers from now on', { model }) : t('The built-in model answers from now on'));
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setBusy(null);
      await Promise.all(['models', 'about'].map((queryKey) => refresh(queries, [queryKey])));
    }
  };
  return (
    <>
      {servers.length === 0 && (
        <p>{t('No model server answers on this machine. Start Ollama, llama.cpp, LM Studio or vLLM, then look again.')}</p>
      )}
      {servers.map(({ family, server, models }) => (
        <section key={server} className="model-server" aria-label={t('Models of {family}', { family })}>
          <h3>
            {family} <span>{server}</span>
          </h3>
          {models.length === 0 && <p>{t('This server has no model yet.')}</p>}
          <ul>
            {models.map(({ name, capabilities }) => {
              const isActive = active.server === server && active.id.endsWith(`:${name}`);
              return (
                <li key={name}>
                  <div>
                    <span dir="auto">{name}</span>
                    <small>{capabilities ?? (isActive ? t('Trying what it can do…') : t('Not tried yet'))}</small>
                  </div>
                  {isActive ? (
                    <span className="model-chosen">
                      <Check size={15} aria-hidden /> {t('Answers')}
                    </span>
                  ) : (
                    <button
                      type="button"
                      className="button small"
                      aria-label={t('Use {name} of {family}', { name, family })}
                      disabled={busy !== null}
                      onClick={() => void choose(server, name)}
                    >
                      {busy === name ? t('Connecting…') : t('Use')}
                    </button>
                  )}
                </li>
              );
            })}
          </ul>
        </section>
      ))}
      {servers.length > 0 && <p>{t('Segue sends nothing that you write to a server before you choose it.')}</p>}
      {active.chosenBy === 'operator' && (
        <button type="button" className="button small" disabled={busy !== null} onClick={() => void choose()}>
          {t('Use the built-in model')}
        </button>
      )}
      {problem && (
        <p className="notice" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
