// How Segue looks, who you are to it, what it keeps, and what it is.
import { Download, Monitor, Moon, Sun, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useModels } from '../api/models';
import { useAbout, useMe } from '../api/queries';
import { usePageTitle } from '../shell/page-title';
import { count } from '../ui/format';
import { Segments } from '../ui/segments';
import { SettingNames } from '../ui/setting-names';
import { Failed, SkeletonRows } from '../ui/states';
import { Account } from './account';
import { ModelSection } from './model-section';
import { currentTheme, setTheme, type Theme } from './theme';
import './settings.css';

export default function SettingsPage() {
  usePageTitle('Settings');
  return (
    <div className="page">
      <div className="page-inner narrow">
        <header className="page-head">
          <h1>Settings</h1>
        </header>
        <div className="settings">
          <Appearance />
          <AccountSection />
          <ModelsOfOperator />
          <Section title="Your data" hint="Conversations, tasks, library and playlists, in one JSON file.">
            <a className="button" href="/api/export" download="segue-export.json">
              <Download size={16} aria-hidden /> Export everything
            </a>
          </Section>
          <Section title="Trash" hint="What you deleted in the last 30 days.">
            <Link className="button" href="/trash">
              <Trash2 size={16} aria-hidden /> Open the trash
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
    <Section title="Theme" hint="Kept on this device.">
      <Segments
        label="Theme"
        value={theme}
        onChange={onChange}
        options={[
          {
            value: 'light',
            label: (
              <>
                <Sun size={15} aria-hidden /> Light
              </>
            ),
          },
          {
            value: 'dark',
            label: (
              <>
                <Moon size={15} aria-hidden /> Dark
              </>
            ),
          },
          {
            value: 'system',
            label: (
              <>
                <Monitor size={15} aria-hidden /> System
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
    <Section title="Account">
      {error && <Failed error={error} />}
      {!me && !error && <SkeletonRows rows={1} height={24} label="Loading your account" />}
      {me && <Account me={me} />}
    </Section>
  );
}

function ModelsOfOperator() {
  const { data } = useModels();
  if (data && !data.active) return null;
  return (
    <Section title="Model" hint="What answers in every conversation.">
      <ModelSection />
    </Section>
  );
}

function AboutSection() {
  const { data: about, error } = useAbout();
  return (
    <Section title="About">
      {error && <Failed error={error} />}
      {about && (
        <dl className="about">
          <dt>Version</dt>
          <dd>Segue {about.version}</dd>
          <dt>Model</dt>
          <dd>
            {about.model.offline ? 'Offline model' : about.model.id}
            {about.model.hint && about.mode === 'local' && (
              <span>
                <SettingNames text={about.model.hint} />
              </span>
            )}
          </dd>
          <dt>Index</dt>
          <dd>{about.index ? `${count(about.index.tracks, 'track')} · ${about.index.embedder}` : 'Not answering'}</dd>
          <dt>Tidal catalogue</dt>
          <dd>{about.tidal ? 'Connected' : 'Not configured'}</dd>
          <dt>Made with</dt>
          <dd>
            <a href="/licenses.txt" target="_blank" rel="noreferrer">
              Licences of other people’s work
            </a>
          </dd>
        </dl>
      )}
    </Section>
  );
}
