// The model's reasoning, folded: it is no part of the answer.
import { t } from '../i18n';
import './thought.css';

export default function Thought({ text }: { text: string }) {
  return (
    <details className="thought">
      <summary>{t('Thinking')}</summary>
      <p dir="auto">{text.trim()}</p>
    </details>
  );
}
