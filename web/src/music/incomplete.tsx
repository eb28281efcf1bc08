// A search that could not look everywhere says so below its results.
import { t } from '../i18n';

/** `index`: it is being filled. `tidal`: the catalogue was too slow. */
export function Incomplete({ of, when = false }: { of: 'index' | 'tidal'; when?: boolean }) {
  if (!when) return null;
  return (
    <p className="tool-note" role="status">
      {of === 'index'
        ? t('Some of your tracks are still being read and cannot be found yet.')
        : t('Tidal had more, but did not deliver it in time.')}
    </p>
  );
}
