// An answer's words as they arrive: Markdown, HTML shown as text, without remote images, with links that show where they lead.
import { memo, useMemo, type ReactNode } from 'react';
import ReactMarkdown, { type Components, type Options } from 'react-markdown';
import { t } from '../i18n';
import { CopyButton } from '../ui/copy';
import { splitBlocks } from './blocks';
import { readGfm } from './gfm';
import { isNameHref, NameLink, useNames } from './mentions';
import { textOnly } from './text-only';
import './markdown.css';

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => splitBlocks(text), [text]);
  return (
    <div className="markdown" dir="auto">
      {blocks.map((block, index) => (
        <Block key={index} text={block} />
      ))}
    </div>
  );
});

const Block = memo(function Block({ text }: { text: string }) {
  const names = useNames();
  const plugins = useMemo<Options['remarkPlugins']>(() => [readGfm, [textOnly, { names }]], [names]);
  return (
    <ReactMarkdown remarkPlugins={plugins} components={COMPONENTS} urlTransform={safeUrl}>
      {text}
    </ReactMarkdown>
  );
});

const COMPONENTS: Components = {
  a: ({ href, children }) => {
    if (isNameHref(href)) return <NameLink href={href}>{children}</NameLink>;
    const host = hostOf(href);
    if (!href || !host) return <>{children}</>;
    return (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
        {!says(children, host) && <span className="link-host"> ({host})</span>}
      </a>
    );
  },
  // Showing a picture would tell its host who reads what. The words that describe it are enough.
  img: ({ alt }) => <span className="image-words">{alt ? t('[picture: {alt}]', { alt }) : t('[picture]')}</span>,
  pre: ({ children, node }) => (
    <div className="code">
      <pre tabIndex={0}>{children}</pre>
      <CopyButton label={t('Copy code')} text={codeOf(node)} />
    </div>
  ),
  table: ({ children }) => (
    <div className="table-wrap" tabIndex={0} role="region" aria-label={t('Table')}>
      <table>{children}</table>
    </div>
  ),
  // The page has its own headings; an answer's begin below them.
  h1: ({ children }) => <h2>{children}</h2>,
  h2: ({ children }) => <h2>{children}</h2>,
  h3: ({ children }) => <h3>{children}</h3>,
  h4: ({ children }) => <h3>{children}</h3>,
  h5: ({ children }) => <h3>{children}</h3>,
  h6: ({ children }) => <h3>{children}</h3>,
};

/** Only links a person may follow; everything else (javascript:, data:, relative tricks) leads nowhere. */
export function safeUrl(url: string): string | null {
  return hostOf(url) || isNameHref(url) ? url : null;
}

function hostOf(href: string | undefined): string | null {
  if (!href || !URL.canParse(href)) return null;
  const url = new URL(href);
  if (url.protocol === 'mailto:') return url.pathname;
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : null;
}

/** A bare address that begins with its host has said it already; `good.example@evil.example` has not. */
function says(children: ReactNode, host: string): boolean {
  if (typeof children !== 'string') return false;
  const [first] = children.replace(/^https?:\/\//, '').split(/[/?#]/);
  return first === host;
}

interface HastNode {
  value?: string;
  children?: unknown[];
}

function codeOf(node: HastNode | undefined): string {
  if (!node) return '';
  return node.value ?? (node.children ?? []).map((child) => codeOf(child as HastNode)).join('');
}
