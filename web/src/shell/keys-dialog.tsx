// The list of all keyboard shortcuts.
import { t } from '../i18n';
import { Dialog } from '../ui/dialog';
import { keyName, SHORTCUTS } from './shortcuts';
import './palette.css';

export default function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t('Keyboard shortcuts')} onClose={onClose}>
      <dl className="keys">
        {SHORTCUTS.map(({ keys, what }) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{keyName(key)}</kbd>
              ))}
            </dt>
            <dd>{t(what)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
