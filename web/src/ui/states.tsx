// How a page looks while it loads, when it is empty, and when it failed.
import { CircleAlert, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { explain } from '../api/client';
import { t } from '../i18n';

export function Skeleton({ width = '100%', height = 14 }: { width?: number | string; height?: number }) {
  return <div className="skeleton" style={{ width, height }} />;
}

export function SkeletonRows({ rows, height = 52, label }: { rows: number; height?: number; label: string }) {
  return (
    <div role="status" aria-label={label} style={{ display: 'grid', gap: 10 }}>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={height} />
      ))}
    </div>
  );
}

export function Empty({ icon: Icon, title, children }: { icon: LucideIcon; title: string; children?: ReactNode }) {
  return (
    <div className="empty rise">
      <Icon size={30} strokeWidth={1.4} aria-hidden />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Failed({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div className="notice" role="alert">
      <CircleAlert size={17} aria-hidden />
      <div>
        {explain(error)}
        {onRetry && (
          <div className="actions">
            <button type="button" className="button small" onClick={onRetry}>
              {t('Try again')}
            </button>
          </div>
        )}
      </div>
    </div>
  );
}
