// Scrolling along with an answer, but only for someone who is reading its end.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

const NEAR_PX = 56;
/**
 * An answer that shows rows is followed until its question reaches the top: what one asked and the best hit stay in view.
 * On a small screen that goes for every answer.
 */
const SMALL = '(max-width: 640px)';
const GAP_PX = 12;

function staysInView(box: HTMLDivElement): boolean {
  const answer = [...box.querySelectorAll('.message.answer')].at(-1);
  return window.matchMedia(SMALL).matches || answer?.querySelector('.track') != null;
}

/** Scrolls, and returns where to. */
function follow(box: HTMLDivElement | null, keepQuestion: boolean): number | null {
  if (!box) return null;
  const question = keepQuestion && staysInView(box) ? [...box.querySelectorAll<HTMLElement>('.message.user')].at(-1) : undefined;
  const end = box.scrollHeight - box.clientHeight;
  const top = question ? question.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop - GAP_PX : end;
  box.scrollTo({ top: Math.min(end, top) });
  return box.scrollTop;
}

export function useFollowScroll(conversation: string, following: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  /** Where this hook scrolled to last. */
  const ours = useRef<number | null>(null);
  const [atEnd, setAtEnd] = useState(true);

  const keepQuestion = useRef(true);

  const go = useCallback((withQuestion: boolean) => {
    stuck.current = true;
    keepQuestion.current = withQuestion;
    setAtEnd(true);
    ours.current = follow(box.current, withQuestion);
  }, []);
  /** To the newest turn: where one lands after opening or sending. */
  const toNewest = useCallback(() => go(true), [go]);
  const toEnd = useCallback(() => go(false), [go]);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const near = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    // The event of our own scrolling comes later: an answer that came at once has grown the page by then, and nobody has moved.
    if (element.scrollTop !== ours.current) stuck.current = near;
    setAtEnd(near);
  }, []);

  /** Someone who opens a card wants to look at it, not to be carried away from it. */
  const release = useCallback(() => {
    stuck.current = false;
  }, []);

  useLayoutEffect(toNewest, [conversation, toNewest]);

  useEffect(() => {
    const element = content.current;
    if (!element) return;
    // The first growth after opening is the stored conversation coming in; later ones count only during a turn.
    let settled = false;
    const observer = new ResizeObserver(() => {
      if (stuck.current && (following || !settled)) ours.current = follow(box.current, keepQuestion.current);
      else onScroll();
      settled = true;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [conversation, following, onScroll]);

  return { box, content, atEnd, toEnd, toNewest, onScroll, release };
}
