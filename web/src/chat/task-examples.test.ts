import { expect, it } from 'vitest';
import type { Task } from '../api/types';
import { taskExamples } from './task-examples';

const EXAMPLES = ['Add milk', 'What is on my list?', 'I have called the dentist', 'Rename the first task'];
const task = (title: string, completed = false) => ({ id: title, title, completed }) as Task;

it('offers only what works with the list as it is', () => {
  expect(taskExamples(EXAMPLES)).toEqual(['Add milk']);
  expect(taskExamples(EXAMPLES, [task('done', true)])).toEqual(['Add milk']);
  expect(taskExamples(EXAMPLES, [task('done', true), task('Call mum')])).toEqual([
    'Add milk',
    'What is on my list?',
    'I have finished “Call mum”',
  ]);
});
