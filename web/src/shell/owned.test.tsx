import { cleanup, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { useState } from 'react';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepFor, recall, remember } from '../ui/storage';
import { Owned } from './owned';

const DRAFT = 'segue.draft.new';

function Draft() {
  const [text] = useState(() => recall(DRAFT) ?? 'nothing');
  return <p>{text}</p>;
}

beforeEach(() => {
  keepFor('ann');
  remember(DRAFT, 'a secret');
});
afterEach(() => {
  cleanup();
  sessionStorage.clear();
});

it('shows unsent text to the user who wrote it', () => {
  render(
    <Owned by="ann">
      <Draft />
    </Owned>,
  );
  expect(screen.getByText('a secret')).toBeTruthy();
});

it('deletes unsent text of another user before a child reads it', () => {
  render(
    <Owned by="bob">
      <Draft />
    </Owned>,
  );
  expect(screen.getByText('nothing')).toBeTruthy();
});

it('changes nothing in storage while it is drawn', () => {
  renderToString(
    <Owned by="bob">
      <Draft />
    </Owned>,
  );
  expect(recall(DRAFT)).toBe('a secret');
});
