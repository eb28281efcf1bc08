// Copies text, including where the browser's clipboard API is not available (plain http on a home network).
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { t } from '../i18n';
import { toastError } from './toast';

export function CopyButton({ text, label = t('Copy') }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_600);
    return () => clearTimeout(timer);
  }, [copied]);

  const onClick = () => copyText(text).then(() => setCopied(true), toastError);
  return (
    <button
      type="button"
      className="icon-button small"
      aria-label={copied ? t('Copied') : label}
      title={label}
      onClick={() => void onClick()}
    >
      {copied ? <Check size={15} /> : <Copy size={15} />}
    </button>
  );
}

export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error(t('The browser did not allow copying.'));
}
