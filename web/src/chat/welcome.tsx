// The first minute: who answers, what it knows, and something to try that works.
import { ArrowUpRight, ListTodo, Music2, PlugZap } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Link, useLocation } from 'wouter';
import { useAbout, useLibrarySize } from '../api/queries';
import { useTasks } from '../api/task-queries';
import type { About, AgentId } from '../api/types';
import { msg, t } from '../i18n';
import { rich } from '../i18n/rich';
import { Artwork } from '../music/artwork';
import { count } from '../ui/format';
import { Segments } from '../ui/segments';
import { Failed, SkeletonRows } from '../ui/states';
import { taskExamples } from './task-examples';
import './welcome.css';

const FirstDay = lazy(() => import('./first-day'));

const GREETING: Record<AgentId, string> = {
  discover: msg('What would you like to hear?'),
  tasks: msg('What needs doing?'),
};

export function Welcome({ agent, onPick }: { agent: AgentId; onPick: (text: string) => void }) {
  const { data: about, error, refetch } = useAbout();
  const [, navigate] = useLocation();
  const { data: owned } = useLibrarySize();
  const empty = agent === 'discover' && owned === 0;
  const current = about?.agents.find((candidate) => candidate.id === agent);

  return (
    <div className="welcome">
      <div className="welcome-inner">
        <Segments
          label={t('Agent')}
          value={agent}
          onChange={(next) => navigate(next === 'tasks' ? '/?agent=tasks' : '/', { replace: true })}
          options={[
            {
              value: 'discover',
              label: (
                <>
                  <Music2 size={15} aria-hidden /> {t('Discover')}
                </>
              ),
            },
            {
              value: 'tasks',
              label: (
                <>
                  <ListTodo size={15} aria-hidden /> {t('Tasks')}
                </>
              ),
            },
          ]}
        />
        <h1>{t(GREETING[agent])}</h1>
        {error && <Failed error={error} onRetry={() => void refetch()} />}
        {!about && !error && <SkeletonRows rows={4} label={t('Loading examples')} />}
        {current && (
          <>
            <p className="welcome-lead">{t(current.description)}</p>
            {empty && (
              <Suspense>
                <FirstDay mode={about?.mode ?? 'local'} />
              </Suspense>
            )}
            {!empty && agent === 'tasks' && <TaskExamples examples={current.examples} onPick={onPick} />}
            {!empty && agent !== 'tasks' && <Examples examples={current.examples} onPick={onPick} />}
          </>
        )}
        {about && <Facts about={about} agent={agent} />}
      </div>
    </div>
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

function Facts({ about, agent }: { about: About; agent: AgentId }) {
  const { model, index } = about;
  const name = <strong>{model.offline ? t('the built-in offline model') : model.id}</strong>;
  return (
    <div className="facts">
      <p>
        {agent === 'discover' && index && index.tracks > 0
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
