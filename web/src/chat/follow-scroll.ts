// Scrolling along with an answer, but only for someone who is reading its end.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

const NEAR_PX = 56;

export function useFollowScroll(conversation: string, following: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const [atEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    stuck.current = true;
    setAtEnd(true);
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, []);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const near = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    stuck.current = near;
    setAtEnd(near);
  }, []);

  /** Someone who opens a card wants to look at it, not to be carried away from it. */
  const release = useCallback(() => {
    stuck.current = false;
  }, []);

  useLayoutEffect(toEnd, [conversation, toEnd]);

  useEffect(() => {
    const element = content.current;
    if (!element) return;
    // The first growth after opening is the stored conversation coming in; later ones count only during a turn.
    let settled = false;
    const observer = new ResizeObserver(() => {
      if (stuck.current && (following || !settled)) box.current?.scrollTo({ top: box.current.scrollHeight });
      else onScroll();
      settled = true;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [conversation, following, onScroll]);

  return { box, content, atEnd, toEnd, onScroll, release };
}
