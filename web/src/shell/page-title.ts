// The tab's title, which is also what a screen reader says first.
import { useEffect } from 'react';

export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Segue`;
  }, [title]);
}
