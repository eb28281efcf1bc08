// How Segue looks, who you are to it, what it keeps, and what it is.
import { Download, Monitor, Moon, Sun, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useModels, useUsage } from '../api/models';
import { useAbout, useMe } from '../api/queries';
import { t } from '../i18n';
import { usePageTitle } from '../shell/page-title';
import { count } from '../ui/format';
import { Segments } from '../ui/segments';
import { Failed, SkeletonRows } from '../ui/states';
import { Account } from './account';
import { Connections } from './connections';
import { LanguageChoice } from './language-choice';
import { ModelSection } from './model-section';
import { currentTheme, setTheme, type Theme } from './theme';
import { UsageLine } from './usage-line';
import './settings.css';

export default function SettingsPage() {
  usePageTitle(t('Settings'));
  return (
    <div className="page">
      <div className="page-inner narrow">
        <header className="page-head">
          <h1>{t('Settings')}</h1>
        </header>
        <div className="settings">
          <Appearance />
          <Section title={t('Language')} hint={t('Kept on this device. Answers come in the language you ask in.')}>
            <LanguageChoice />
          </Section>
          <AccountSection />
          <ModelsOfOperator />
          <ConnectionsOfOperator />
          <UsageSection />
          <Section title={t('Your data')} hint={t('Conversations, tasks, library and playlists, in one JSON file.')}>
            <a className="button" href="/api/export" download="segue-export.json">
              <Download size={16} aria-hidden /> {t('Export everything')}
            </a>
          </Section>
          <Section title={t('Trash')} hint={t('What you deleted in the last 30 days.')}>
            <Link className="button" href="/trash">
              <Trash2 size={16} aria-hidden /> {t('Open the trash')}
            </Link>
          </Section>
          <AboutSection />
        </div>
      </div>
    </div>
  );
}

function Section({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <section className="setting">
      <div>
        <h2>{title}</h2>
        {hint && <p>{hint}</p>}
      </div>
      <div>{children}</div>
    </section>
  );
}

function Appearance() {
  const [theme, choose] = useState<Theme>(currentTheme);
  const onChange = (next: Theme) => {
    setTheme(next);
    choose(next);
  };
  return (
    <Section title={t('Theme')} hint={t('Kept on this device.')}>
      <Segments
        label={t('Theme')}
        value={theme}
        onChange={onChange}
        options={[
          {
            value: 'light',
            label: (
              <>
                <Sun size={15} aria-hidden /> {t('Light')}
              </>
            ),
          },
          {
            value: 'dark',
            label: (
              <>
                <Moon size={15} aria-hidden /> {t('Dark')}
              </>
            ),
          },
          {
            value: 'system',
            label: (
              <>
                <Monitor size={15} aria-hidden /> {t('System')}
              </>
            ),
          },
        ]}
      />
    </Section>
  );
}

function AccountSection() {
  const { data: me, error } = useMe();
  return (
    <Section title={t('Account')}>
      {error && <Failed error={error} />}
      {!me && !error && <SkeletonRows rows={1} height={24} label={t('Loading your account')} />}
      {me && <Account me={me} />}
    </Section>
  );
}

function ModelsOfOperator() {
  const { data } = useModels();
  if (data && !data.active) return null;
  return (
    <Section title={t('Model')} hint={t('What answers in every conversation.')}>
      <ModelSection />
    </Section>
  );
}

/** Nothing where nothing is counted: the built-in model uses no tokens. */
function UsageSection() {
  const { data: today } = useUsage();
  if (!today || (today.tokens === 0 && !today.tokensPerDay)) return null;
  return (
    <Section title={t('Used today')} hint={t('By your answers since midnight UTC. A cost is known where the operator set a price.')}>
      <UsageLine today={today} />
    </Section>
  );
}

function ConnectionsOfOperator() {
  const { data } = useModels();
  if (!data?.active) return null;
  return (
    <Section
      title={t('Connections')}
      hint={t('Services beside Segue. Secrets are stored encrypted and never shown again. Only operators see this.')}
    >
      <Connections />
    </Section>
  );
}

function AboutSection() {
  const { data: about, error } = useAbout();
  return (
    <Section title={t('About')}>
      {error && <Failed error={error} />}
      {about && (
        <dl className="about">
          <dt>{t('Version')}</dt>
          <dd>Segue {about.version}</dd>
          <dt>{t('Model')}</dt>
          <dd>{about.model.offline ? t('Offline model') : about.model.id}</dd>
          <dt>{t('Search index')}</dt>
          <dd title={about.index?.embedder}>{about.index ? count(about.index.tracks, 'track') : t('Not answering')}</dd>
          <dt>{t('Tidal catalogue')}</dt>
          <dd>{about.tidal ? t('Connected') : t('Not configured')}</dd>
          <dt>{t('Made with')}</dt>
          <dd>
            <a href="/licenses.txt" target="_blank" rel="noreferrer">
              {t('Licences of other people’s work')}
            </a>
          </dd>
        </dl>
      )}
    </Section>
  );
}
