// The sample library is among what is found: say so, and remove it with one press.
import { Telescope } from 'lucide-react';
import { remove, post } from '../api/client';
import { useChanged, useIndexStatus } from '../api/queries';
import { t } from '../i18n';
import { toast, toastError } from '../ui/toast';

const SAMPLE = '/api/library/sample';

export function SampleNote() {
  const { data: status } = useIndexStatus();
  const changed = useChanged();
  const away = async () => {
    try {
      await remove(SAMPLE);
    } catch (error) {
      return toastError(error);
    }
    changed('library');
    toast(t('Removed the sample'), { undo: () => post(`${SAMPLE}/restore`, {}).then(() => changed('library')) });
  };
  if (!status?.hasSample) return null;
  return (
    <p className="sample-note">
      <Telescope size={15} aria-hidden />
      <span>{t('The made-up tracks of the sample are part of your searches.')}</span>
      <button type="button" className="button small quiet" onClick={() => void away()}>
        {t('Remove the sample')}
      </button>
    </p>
  );
}
