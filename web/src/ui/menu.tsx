// The three-dots menu: Radix provides the keyboard handling, we provide the style.
import * as Radix from '@radix-ui/react-dropdown-menu';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import './menu.css';

export interface MenuItem {
  label: string;
  icon: LucideIcon;
  danger?: boolean;
  onSelect: () => void;
}

interface Props {
  trigger: ReactNode;
  items: MenuItem[];
  align?: 'start' | 'end';
  /** Information below the menu items. */
  note?: string;
}

export function Menu({ trigger, items, align = 'end', note }: Props) {
  return (
    // Not modal: a modal menu locks scrolling with an injected style element, which the page's CSP blocks.
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      {/* In place, not in a portal: inside a modal drawer everything outside of it is inert. */}
      <Radix.Content className="menu" align={align} sideOffset={6} collisionPadding={10}>
        {items.map(({ label, icon: Icon, danger, onSelect }) => (
          <Radix.Item key={label} className={danger ? 'menu-item danger' : 'menu-item'} onSelect={onSelect}>
            <Icon size={16} aria-hidden /> {label}
          </Radix.Item>
        ))}
        {note && <Radix.Label className="menu-note">{note}</Radix.Label>}
      </Radix.Content>
    </Radix.Root>
  );
}
