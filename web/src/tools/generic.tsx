// The card of a tool without its own card: name, input and output.
import { Wrench } from 'lucide-react';
import { t } from '../i18n';
import type { BodyProps, CardSpec } from './spec';

export function genericCard(name: string): CardSpec {
  return {
    icon: Wrench,
    title: (_input, running) => (running ? t('Running {name}', { name }) : t('Ran {name}', { name })),
    // Only the tool knows what it did, and what it changed.
    outcome: ({ summary = '' }) => summary,
    changes: ['tasks', 'playlists'],
    staysClosed: true,
    Body: GenericBody,
  };
}

/** Also used when a tool's own card cannot draw a result. */
export function GenericBody({ input, output }: BodyProps) {
  return (
    <div className="generic">
      <div>
        <p className="label">{t('Asked')}</p>
        <Value value={input} />
      </div>
      <div>
        <p className="label">{t('Answer')}</p>
        <Value value={output} />
      </div>
    </div>
  );
}

/** `read_calendar` and `readCalendar` both become "read calendar". */
export function inWords(toolName: string): string {
  return toolName
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
}

export function Value({ value }: { value: unknown }) {
  if (isFlat(value)) {
    return (
      <dl>
        {Object.entries(value).map(([key, entry]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>{inWords(key)}</dt>
            <dd>{String(entry)}</dd>
          </div>
        ))}
      </dl>
    );
  }
  return <pre tabIndex={0}>{JSON.stringify(value, null, 2)}</pre>;
}

function isFlat(value: unknown): value is Record<string, string | number | boolean | null> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((entry) => typeof entry !== 'object' || entry === null);
}
