// A call to a tool of another server waits for the person: what it would do, and three answers.
import { Check, ShieldQuestion, X } from 'lucide-react';
import { createContext, useContext, useEffect, useId, useRef, useState } from 'react';
import { msg, t } from '../i18n';
import { rich } from '../i18n/rich';
import { inWords, Value } from '../tools/generic';
import type { ToolCall } from './parts';
import type { ConsentState } from './reduce';
import './consent-card.css';

export type Decision = 'once' | 'conversation' | 'refuse';

export interface Consents {
  /** By consent id. One that is not known waits. */
  states: Record<string, ConsentState>;
  idle: boolean;
  decide: (consentId: string, decision: Decision) => void;
}

export const ConsentContext = createContext<Consents | null>(null);

const OUTCOME: Record<Exclude<ConsentState, 'waiting'>, string> = {
  once: msg('Allowed once'),
  conversation: msg('Allowed in this conversation'),
  refuse: msg('Refused. Nothing was done.'),
};

/** `home__add_task`: the tool `add task` of the server `home`. */
function partsOf(toolName: string): { server: string; tool: string } {
  const [server, ...rest] = toolName.split('__');
  return rest.length > 0
    ? { server: server ?? '', tool: inWords(rest.join('__')) }
    : { server: t('Another server'), tool: inWords(toolName) };
}

export function ConsentCard({ call, consentId }: { call: ToolCall; consentId: string }) {
  const consents = useContext(ConsentContext);
  const state = consents?.states[consentId] ?? 'waiting';
  const [asked, setAsked] = useState(false);
  const outcome = useRef<HTMLParagraphElement>(null);
  const titleId = useId();
  const { server, tool } = partsOf(call.name);
  useEffect(() => {
    // The button that was pressed is gone: the focus stays with what became of it.
    if (asked && state !== 'waiting') outcome.current?.focus();
  }, [asked, state]);
  const decide = (decision: Decision) => {
    setAsked(true);
    consents?.decide(consentId, decision);
  };
  return (
    <section className="consent rise" aria-labelledby={titleId} data-state={state}>
      <div className="consent-head">
        <ShieldQuestion size={18} aria-hidden />
        <div>
          <p className="consent-title" id={titleId}>
            {rich('Allow {tool} on {server}?', { tool: <b>{tool}</b>, server: <b>{server}</b> })}
          </p>
          <p className="consent-note">{t('This tool belongs to another server and may change something there.')}</p>
        </div>
      </div>
      <div className="consent-input">
        <Value value={call.input} />
      </div>
      {state === 'waiting' ? (
        <div className="consent-actions">
          <button type="button" className="button small primary" disabled={!consents?.idle} onClick={() => decide('once')}>
            {t('Allow once')}
          </button>
          <button type="button" className="button small" disabled={!consents?.idle} onClick={() => decide('conversation')}>
            {t('Allow in this conversation')}
          </button>
          <button type="button" className="button small" disabled={!consents?.idle} onClick={() => decide('refuse')}>
            {t('Refuse')}
          </button>
        </div>
      ) : (
        <p className="consent-outcome" ref={outcome} tabIndex={-1}>
          {state === 'refuse' ? <X size={15} aria-hidden /> : <Check size={15} aria-hidden />} {t(OUTCOME[state])}
        </p>
      )}
    </section>
  );
}
