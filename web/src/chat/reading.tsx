// Shown while nothing has come from the model: one on this machine may read its prompt for minutes.
import { useEffect, useState } from 'react';
import { t } from '../i18n';
import { percent } from '../ui/format';
import './reading.css';

/** Hosted models and short prompts are faster than this. */
const LATE_MS = 5_000;

export default function Reading({ share }: { share: number | undefined }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (share === undefined && !late) return null;
  return <p className="reading">{share === undefined ? t('Reading…') : t('Reading… {percent}', { percent: percent(share) })}</p>;
}
