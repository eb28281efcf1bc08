// Why a message was not taken, above the composer that holds its words again.
import { CircleAlert, RotateCcw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { t } from '../i18n';
import type { Failure } from './reduce';

export function RefusalNotice({ error, canSend }: { error: Failure; canSend: boolean }) {
  const seconds = useSecondsUntil(error.retryAt);
  return (
    <div className="notice refusal">
      <CircleAlert size={17} aria-hidden />
      <div>
        {t('Not sent.')} {error.message}
        {error.retryable && (
          <div className="actions">
            {/* Of the form, so it sends what the field holds now, corrections included. */}
            <button type="submit" className="button small" disabled={seconds > 0 || !canSend}>
              <RotateCcw size={14} aria-hidden /> {seconds > 0 ? t('Try again in {seconds} s', { seconds }) : t('Try again')}
            </button>
          </div>
        )}
      </div>
    </div>
  );
}

function useSecondsUntil(moment: number | undefined): number {
  const left = () => (moment === undefined ? 0 : Math.max(0, Math.ceil((moment - Date.now()) / 1000)));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    setSeconds(left());
    if (moment === undefined) return;
    const timer = setInterval(() => setSeconds(left()), 500);
    return () => clearInterval(timer);
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [moment]);
  return seconds;
}
