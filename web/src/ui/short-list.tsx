// A list that starts short: a button shows the rest. There is no scrolling box inside a scrolling page.
import { useState, type ReactNode } from 'react';
import { t } from '../i18n';

interface Props<T> {
  items: T[];
  first: number;
  render: (item: T, row: number) => ReactNode;
}

export function ShortList<T>({ items, first, render }: Props<T>) {
  const [all, setAll] = useState(false);
  return (
    <>
      <ol>{(all ? items : items.slice(0, first)).map(render)}</ol>
      {items.length > first && (
        <p className="list-rest">
          <button type="button" className="button small quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? t('Show the first {first}', { first }) : t('Show all {length}', { length: items.length })}
          </button>
        </p>
      )}
    </>
  );
}
