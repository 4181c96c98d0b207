/** Renders a chapter from Markdown to the parts of a page: title, lead, facts, body, headings, and text by section for the search. */
import assert from 'node:assert'
import MarkdownIt, { type Token } from 'markdown-it'
import { Html } from '../../pages/layout/html.ts'
import { codeBlock, codeFacts } from './code-blocks.ts'
import { targetOf, type Target } from './links.ts'
import { shaped, textOf } from './shapes.ts'

export interface Heading {
  readonly level: number
  readonly title: string
  readonly anchor: string
}

/** The text below a heading, without markup. */
export interface TextSection {
  /** Undefined for text above the first heading. */
  readonly heading: Heading | undefined
  readonly text: string
}

export interface RenderedChapter {
  readonly title: string
  readonly titleHtml: Html
  /** The first paragraph. */
  readonly lead: Html | undefined
  /** A second paragraph that is a line of short facts with dots between them. */
  readonly facts: readonly Html[]
  readonly body: Html
  readonly headings: readonly Heading[]
  readonly sections: readonly TextSection[]
  readonly targets: readonly Target[]
}

export interface ChapterSource {
  /** From the root of the repository. */
  readonly file: string
  readonly text: string
}

/** Renders a chapter. `hrefOf` returns the address of a link; if it is undefined, only the text of the link remains. */
export function renderChapter(
  { file, text }: ChapterSource,
  isChapter: (file: string) => boolean,
  hrefOf: (target: Target) => string | undefined,
): RenderedChapter {
  const markdown = new MarkdownIt({ html: false, linkify: false })
  markdown.renderer.rules['fence'] = (tokens, index) => codeBlock(tokens[index]?.content ?? '', codeFacts(tokens[index]?.info ?? ''))
  const tokens = markdown.parse(text, {})
  const targets = setLinks(tokens, (href) => targetOf(href, file, isChapter), hrefOf)
  const headings = setAnchors(tokens)
  const { titleTokens, leadTokens, factsTokens, bodyTokens } = splitHead(tokens, file)
  const inline = (wanted: readonly Token[]): string => markdown.renderer.render([...wanted], markdown.options, {})
  return {
    title: textOf(titleTokens),
    titleHtml: Html.of([inline(titleTokens)], []),
    lead: leadTokens.length > 0 ? Html.of([inline(leadTokens)], []) : undefined,
    facts:
      factsTokens.length > 0
        ? inline(factsTokens)
            .split(' · ')
            .map((fact) => Html.of([fact], []))
        : [],
    body: Html.of([markdown.renderer.render(shaped(bodyTokens), markdown.options, {})], []),
    headings,
    sections: sectionsOf(tokens, headings),
    targets,
  }
}

/** Sets the addresses of all links and returns their targets. A link without an address becomes plain text. */
function setLinks(
  tokens: readonly Token[],
  find: (href: string) => Target,
  hrefOf: (target: Target) => string | undefined,
): readonly Target[] {
  const targets: Target[] = []
  for (const { children } of tokens) {
    const open: Token[] = []
    for (const token of children ?? []) {
      if (token.type === 'link_close') token.tag = open.pop()?.tag ?? 'a'
      if (token.type !== 'link_open') continue
      open.push(token)
      const target = find(String(token.attrGet('href')))
      targets.push(target)
      const href = hrefOf(target)
      if (href === undefined) {
        token.tag = 'span'
        token.attrs = null
      } else token.attrSet('href', href)
    }
  }
  return targets
}

/** Creates anchors in the same way as GitHub, so that links with a fragment work in both places. */
function setAnchors(tokens: readonly Token[]): readonly Heading[] {
  const seen = new Map<string, number>()
  return tokens.flatMap((token, index) => {
    if (token.type !== 'heading_open') return []
    const title = textOf([tokens[index + 1]].filter((next) => next !== undefined))
    const name = title.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-') // prettier-ignore
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    const anchor = before === 0 ? name : `${name}-${String(before)}`
    token.attrSet('id', anchor)
    return [{ level: Number(token.tag.slice(1)), title, anchor }]
  })
}

interface Head {
  readonly titleTokens: readonly Token[]
  readonly leadTokens: readonly Token[]
  readonly factsTokens: readonly Token[]
  readonly bodyTokens: readonly Token[]
}

function splitHead(tokens: readonly Token[], file: string): Head {
  assert(tokens[0]?.type === 'heading_open' && tokens[0].tag === 'h1', `${file} begins with a heading of the first level`)
  const paragraphAt = (index: number): readonly Token[] =>
    tokens[index]?.type === 'paragraph_open' ? tokens.slice(index + 1, index + 2) : []
  const leadTokens = paragraphAt(3)
  const second = leadTokens.length > 0 ? paragraphAt(6) : []
  const isFacts = /^\*\*[^]* · /.test(second[0]?.content ?? '')
  const bodyAt = 3 + 3 * (leadTokens.length + (isFacts ? 1 : 0))
  return { titleTokens: tokens.slice(1, 2), leadTokens, factsTokens: isFacts ? second : [], bodyTokens: tokens.slice(bodyAt) }
}

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): readonly TextSection[] {
  const sections: { heading: Heading | undefined; text: string }[] = [{ heading: undefined, text: '' }]
  let at = 0
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const heading = headings[at++]
      if (heading && heading.level > 1) sections.push({ heading, text: '' })
    } else if (tokens[index - 1]?.type !== 'heading_open') {
      const last = sections.at(-1)
      const words = token.type === 'inline' ? textOf([token]) : token.type === 'fence' ? token.content : ''
      if (last && words !== '') last.text += `${words} `
    }
  }
  return sections
}
