// The first minute: who answers, what it knows, and something to try that works.
import { ArrowUpRight, PlugZap } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Link, useLocation } from 'wouter';
import { useAbout, useLibrarySize } from '../api/queries';
import { useTasks } from '../api/task-queries';
import type { About, AgentAbout, AgentId } from '../api/types';
import { t } from '../i18n';
import { rich } from '../i18n/rich';
import { Artwork } from '../music/artwork';
import { count } from '../ui/format';
import { Segments } from '../ui/segments';
import { Failed, SkeletonRows } from '../ui/states';
import { iconOf, keepsTasks, newChatWith, searchesLibrary, useAgent } from './agents';
import { taskExamples } from './task-examples';
import './welcome.css';

const FirstDay = lazy(() => import('./first-day'));

interface Props {
  agent: AgentId | null;
  onPick: (text: string) => void;
}

export function Welcome({ agent, onPick }: Props) {
  const { data: about, error, refetch } = useAbout();
  const { data: owned } = useLibrarySize();
  const current = useAgent(agent);
  return (
    <div className="welcome">
      <div className="welcome-inner">
        {current && <AgentChoice agents={about?.agents ?? []} current={current} />}
        <h1>{current ? t(current.greeting || current.title) : t('New chat')}</h1>
        {error && <Failed error={error} onRetry={() => void refetch()} />}
        {!about && !error && <SkeletonRows rows={4} label={t('Loading examples')} />}
        {about && current && <Introduction agent={current} mode={about.mode} isEmpty={owned === 0} onPick={onPick} />}
        {about && <Facts about={about} agent={current} />}
      </div>
    </div>
  );
}

function AgentChoice({ agents, current }: { agents: AgentAbout[]; current: AgentAbout }) {
  const [, navigate] = useLocation();
  const options = agents.map((agent) => {
    const Icon = iconOf(agent);
    const label = (
      <>
        <Icon size={15} aria-hidden /> {t(agent.title)}
      </>
    );
    return { value: agent.id, label };
  });
  const choose = (id: AgentId) => navigate(id === agents[0]?.id ? '/' : newChatWith(id), { replace: true });
  return <Segments label={t('Agent')} value={current.id} options={options} onChange={choose} />;
}

interface IntroductionProps {
  agent: AgentAbout;
  mode: string;
  /** The library has no tracks. */
  isEmpty: boolean;
  onPick: (text: string) => void;
}

function Introduction({ agent, mode, isEmpty, onPick }: IntroductionProps) {
  const Choices = keepsTasks(agent) ? TaskExamples : Examples;
  return (
    <>
      <p className="welcome-lead">{t(agent.description)}</p>
      {searchesLibrary(agent) && isEmpty ? (
        <Suspense>
          <FirstDay mode={mode} />
        </Suspense>
      ) : (
        <Choices examples={agent.examples} onPick={onPick} />
      )}
    </>
  );
}

interface ExamplesProps {
  examples: string[];
  onPick: (text: string) => void;
}

function TaskExamples({ examples, onPick }: ExamplesProps) {
  const { data: tasks } = useTasks();
  return <Examples examples={taskExamples(examples, tasks)} onPick={onPick} />;
}

function Examples({ examples, onPick }: ExamplesProps) {
  return (
    <ul className="examples" aria-label={t('Examples')}>
      {examples.map((example, row) => (
        <li key={example}>
          <button type="button" onClick={() => onPick(t(example))}>
            <Artwork seed={`${row} ${example}`} size={38} />
            <span dir="auto">{t(example)}</span>
            <ArrowUpRight size={16} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Facts({ about, agent }: { about: About; agent: AgentAbout | undefined }) {
  const { model, index } = about;
  const name = <strong>{model.offline ? t('the built-in offline model') : model.id}</strong>;
  return (
    <div className="facts">
      <p>
        {searchesLibrary(agent) && index && index.tracks > 0
          ? rich('Answers come from {model} over {tracks}.', { model: name, tracks: <strong>{count(index.tracks, 'track')}</strong> })
          : rich('Answers come from {model}.', { model: name })}
      </p>
      {/* Only the person at this machine can change settings. */}
      {model.offline && about.mode === 'local' && (
        <p className="facts-hint">
          <PlugZap size={15} aria-hidden />
          <Link href="/settings">{t('Connect a language model')}</Link>
        </p>
      )}
    </div>
  );
}
