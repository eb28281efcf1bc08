import { act, cleanup, render } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { useFollowScroll } from './follow-scroll';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const CLIENT = 600;

/** A thread whose height the test sets. The browser's parts that jsdom lacks are played here. */
function draw() {
  let resized = () => {};
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(callback: () => void) {
        resized = callback;
      }
      observe() {}
      disconnect() {}
    },
  );
  vi.stubGlobal('matchMedia', () => ({ matches: true }));
  let hook!: ReturnType<typeof useFollowScroll>;
  function Thread() {
    hook = useFollowScroll('talk', true);
    return (
      <div ref={hook.box} data-testid="box">
        <div ref={hook.content} />
      </div>
    );
  }
  const box = render(<Thread />).getByTestId('box') as HTMLDivElement;
  let height = CLIENT;
  Object.defineProperty(box, 'scrollHeight', { get: () => height });
  Object.defineProperty(box, 'clientHeight', { get: () => CLIENT });
  box.scrollTo = ((to: ScrollToOptions) => {
    box.scrollTop = to.top ?? 0;
  }) as typeof box.scrollTo;
  return {
    box,
    grow: (to: number) => (height = to),
    toNewest: () => act(() => hook.toNewest()),
    scrolled: () => act(() => hook.onScroll()),
    resized: () => act(() => resized()),
  };
}

it('follows an answer that came before the browser reported our own scrolling', () => {
  const thread = draw();
  thread.resized();
  thread.grow(1000);
  thread.toNewest();
  expect(thread.box.scrollTop).toBe(400);
  thread.grow(1500);
  thread.scrolled();
  thread.resized();
  expect(thread.box.scrollTop).toBe(900);
});

it('leaves a person who has scrolled up where they are', () => {
  const thread = draw();
  thread.grow(1000);
  thread.toNewest();
  thread.box.scrollTop = 100;
  thread.scrolled();
  thread.grow(1500);
  thread.resized();
  expect(thread.box.scrollTop).toBe(100);
});
