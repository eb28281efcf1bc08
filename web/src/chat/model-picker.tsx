// Which of several models answers in this conversation.
import * as Radix from '@radix-ui/react-dropdown-menu';
import { Check, ChevronDown } from 'lucide-react';
import type { ModelAbout } from '../api/types';
import { t } from '../i18n';
import '../ui/menu.css';
import './model-picker.css';

interface Props {
  model: ModelAbout;
  /** What was chosen for this conversation; null: what answers where nothing is chosen. */
  chosen: string | null;
  onChoose: (name: string | null) => void;
}

/** The entry for a model that is not in the list. No name is empty. */
const OTHER = '';

export default function ModelPicker({ model, chosen, onChoose }: Props) {
  const choices = model.choices ?? [];
  const usual = model.choice ?? OTHER;
  const options = usual === OTHER ? [OTHER, ...choices] : choices;
  // A name that is gone from the settings: the usual model answers.
  const current = chosen !== null && choices.includes(chosen) ? chosen : usual;
  const nameOf = (option: string) => (option === OTHER ? shortName(model) : option);
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>
        <button
          type="button"
          className="model-picker"
          aria-label={t('Model: {name}', { name: nameOf(current) })}
          title={t('Which model answers in this conversation')}
        >
          <span dir="auto">{nameOf(current)}</span> <ChevronDown size={14} aria-hidden />
        </button>
      </Radix.Trigger>
      <Radix.Content className="menu model-menu" align="end" side="top" sideOffset={12} collisionPadding={10}>
        <Radix.Label className="model-menu-label">{t('Model in this conversation')}</Radix.Label>
        <Radix.RadioGroup value={current} onValueChange={(name) => onChoose(name === usual ? null : name)}>
          {options.map((option) => (
            <Radix.RadioItem key={option} value={option} className="menu-item">
              <span className="model-menu-name" dir="auto">
                {nameOf(option)}
                {option === usual && <small>{t('Used in new conversations')}</small>}
              </span>
              <Radix.ItemIndicator>
                <Check size={16} aria-hidden />
              </Radix.ItemIndicator>
            </Radix.RadioItem>
          ))}
        </Radix.RadioGroup>
      </Radix.Content>
    </Radix.Root>
  );
}

function shortName({ id, offline }: ModelAbout): string {
  return offline ? t('Offline model') : id.replace(/^[a-z]+:/, '');
}
