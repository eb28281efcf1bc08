// What your answers have used and cost today, and how much the limit of the day leaves.
import type { UsageToday } from '../api/types';
import { t } from '../i18n';
import { dollars } from '../ui/format';

export function UsageLine({ today: { tokens, tokensPerDay, costUsd } }: { today: UsageToday }) {
  const used =
    typeof tokensPerDay === 'number'
      ? t('{used} of {limit} tokens (parts of words)', { used: tokens, limit: tokensPerDay })
      : t('{used} tokens (parts of words)', { used: tokens });
  return (
    <p className="usage-line">
      {used}
      {typeof costUsd === 'number' && <> · {dollars(costUsd)}</>}
    </p>
  );
}
