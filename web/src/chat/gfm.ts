// GitHub's Markdown (tables, task lists, bare addresses), read only. `remark-gfm` also brings the code that writes Markdown,
// which a first visit would load for nothing.
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

type Extensions = Record<'micromarkExtensions' | 'fromMarkdownExtensions', unknown[] | undefined>;

/** A remark plugin. */
export function readGfm(this: { data: () => object }): void {
  const data = this.data() as Extensions;
  (data.micromarkExtensions ??= []).push(gfm());
  (data.fromMarkdownExtensions ??= []).push(gfmFromMarkdown());
}
