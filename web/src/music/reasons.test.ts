import { expect, it } from 'vitest';
import { distinct } from './reasons';

it('says once what every reason begins with', () => {
  expect(distinct(['“slow Sunday”: Cosy.', '“slow Sunday”: Calm.', undefined])).toEqual(['Cosy.', 'Calm.', undefined]);
  expect(distinct(['“rain”: Cosy.', '“rain”', '“rain”: Calm.']), 'nothing of its own').toEqual(['Cosy.', undefined, 'Calm.']);
  expect(distinct(['“rain”: Cosy.', '', '“rain”: Calm.', null]), 'added by hand').toEqual(['Cosy.', undefined, 'Calm.', undefined]);
  expect(distinct(['Cosy.', 'Calm.'])).toEqual(['Cosy.', 'Calm.']);
  expect(distinct(['“a”: only one'])).toEqual(['“a”: only one']);
  expect(distinct(['“a”: ', '“a”: more'])).toEqual(['“a”: ', '“a”: more']);
});
