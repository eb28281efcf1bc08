import { cleanup, render } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { Markdown } from './markdown';

afterEach(cleanup);

const html = (text: string) => render(<Markdown text={text} />).container;

describe('markdown from a model', () => {
  it.each([
    ['script elements', 'a <script>alert(1)</script> b'],
    ['event handlers', '<img src=x onerror=alert(1)>'],
    ['frames', '<iframe src="https://evil.example"></iframe>'],
    ['raw links', '<a href="javascript:alert(1)">x</a>'],
    ['forms and styles', '<form action="/x"><input></form><style>*{display:none}</style>'],
    ['svg', '<svg onload=alert(1)></svg>'],
  ])('never becomes %s', (_what, text) => {
    const dom = html(text);
    expect(dom.querySelector('script, img, iframe, a, form, input, style, svg:not(.lucide)')).toBeNull();
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.example/x',
    '/api/export',
    'blob:x',
  ])('does not link to %s', (url) => {
    expect(html(`[click](${url})`).querySelector('a')).toBeNull();
  });

  it('shows where a link leads and gives nothing away', () => {
    const link = html('[my bank](https://evil.example/login)').querySelector('a');
    expect(link?.textContent).toBe('my bank (evil.example)');
    expect(link?.getAttribute('rel')).toContain('noopener');
    expect(link?.getAttribute('rel')).toContain('noreferrer');
  });

  it.each([
    ['https://example.org/a/b', 'https://example.org/a/b'],
    ['<https://good.example@evil.example/>', 'https://good.example@evil.example/ (evil.example)'],
    ['[https://good.example/](https://evil.example/)', 'https://good.example/ (evil.example)'],
    ['[good.example](https://evil.example/)', 'good.example (evil.example)'],
  ])('repeats the host of %s only where the words hide it', (text, shown) => {
    expect(html(text).querySelector('a')?.textContent).toBe(shown);
  });

  it('describes a picture instead of fetching it', () => {
    const dom = html('![a cat](https://evil.example/pixel.png)');
    expect(dom.querySelector('img')).toBeNull();
    expect(dom.textContent).toContain('[picture: a cat]');
  });

  it('keeps text in angle brackets', () => {
    const dom = html('Set SEGUE_MODEL=openai:<model> and press <Enter>.\nA generic is List<String>.\n\n<details>\nmore\n</details>');
    expect(dom.textContent).toContain('SEGUE_MODEL=openai:<model> and press <Enter>.');
    expect(dom.textContent).toContain('A generic is List<String>.');
    expect(dom.textContent).toMatch(/<details>\s*more\s*<\/details>/);
    expect(dom.querySelector('br')).not.toBeNull();
    expect(dom.querySelector('details')).toBeNull();
  });

  it('draws lists, tables, code and emphasis', () => {
    const dom = html('1. **one**\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```');
    expect(dom.querySelectorAll('ol > li')).toHaveLength(2);
    expect(dom.querySelector('strong')?.textContent).toBe('one');
    expect(dom.querySelectorAll('td')).toHaveLength(2);
    expect(dom.querySelector('pre')?.textContent).toContain('code');
  });
});
