/** Elements beyond Markdown, inserted between the tokens of a chapter: steps, tabs, notes, and scroll frames for tables. */
import type { Token } from 'markdown-it'
import { html, type Html } from '../../pages/layout/html.ts'
import { codeFacts } from './code-blocks.ts'

/** Returns text and code of inline tokens, without markup. */
export function textOf(tokens: readonly Token[]): string {
  const shown = ({ type, content, children }: Token): string =>
    children ? children.map(shown).join('') : type === 'text' || type === 'code_inline' ? content : type === 'softbreak' ? ' ' : ''
  return tokens.map(shown).join('')
}

const callouts: Readonly<Record<string, string>> = {
  NOTE: 'Note',
  TIP: 'Expected result',
  IMPORTANT: 'Important',
  WARNING: 'If it does not work',
  CAUTION: 'Careful',
}

/** Returns the tokens of a body with steps, tabs, notes, and scroll frames for wide tables. */
export function shaped(tokens: readonly Token[]): Token[] {
  let isInStep = false
  let heading = ''
  const result: Token[] = []
  const put = (text: string): void => void result.push(markup('html_block', text))
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1]
    const wasTab = isTab(tokens[index - 1])
    if (!isTab(token) && wasTab) put('</div>')
    if (isTab(token) && !wasTab) put('<div class="tabs">')
    if (token.type === 'heading_open') {
      heading = textOf(next ? [next] : [])
      if (token.tag === 'h2') {
        if (isInStep) put('</section>')
        const number = /^(\d+)\. /.exec(heading)?.[1]
        isInStep = number !== undefined
        if (isInStep) put(opening('section', { class: 'step', 'aria-labelledby': String(token.attrGet('id')) }))
      }
    }
    if (token.type === 'blockquote_open') openCallout(token, tokens[index + 2])
    if (token.type === 'inline' && tokens[index - 1]?.type === 'heading_open') linkToItself(token, tokens[index - 1])
    if (token.type === 'table_open')
      put(opening('div', { class: 'table', tabindex: '0', role: 'group', 'aria-label': `Table: ${heading}` }))
    result.push(token)
    if (token.type === 'table_close') put('</div>')
  }
  if (isTab(tokens.at(-1))) put('</div>')
  if (isInStep) put('</section>')
  return result
}

const isTab = (token: Token | undefined): boolean => token?.type === 'fence' && codeFacts(token.info).tab !== undefined

/** Opens a note for a quotation that begins with `[!NOTE]` or similar, which code hosts also show as a box. */
function openCallout(quotation: Token, inline: Token | undefined): void {
  const kind = /^\[!([A-Z]+)\]\s/.exec(inline?.content ?? '')?.[1]
  const name = callouts[kind ?? '']
  if (kind === undefined || name === undefined || !inline?.children) return
  quotation.attrSet('class', `callout ${kind.toLowerCase()}`)
  quotation.attrSet('aria-label', name)
  quotation.attrSet('role', 'note')
  inline.children = inline.children.slice(inline.children.findIndex(({ type }) => type === 'softbreak') + 1)
}

/** Makes a heading link to itself, unless it contains links. The number of a step appears in an arch. */
function linkToItself(inline: Token, heading: Token | undefined): void {
  const [first] = inline.children ?? []
  const step = heading?.tag === 'h2' && first?.type === 'text' ? /^(\d+)\. /.exec(first.content) : null
  if (first && step) first.content = first.content.slice(step[0].length)
  const hasLinks = inline.children?.some(({ type }) => type === 'link_open')
  const number = step ? html`<span class="arch">${step[1]}<span class="unseen">. </span></span>` : ''
  inline.children = [
    markup('html_inline', number),
    ...(hasLinks ? [] : [markup('html_inline', opening('a', { class: 'anchor', href: `#${heading?.attrGet('id') ?? ''}` }))]),
    ...(inline.children ?? []),
    ...(hasLinks ? [] : [markup('html_inline', '</a>')]),
  ]
}

/** Returns a token with ready HTML. */
const markup = (type: 'html_block' | 'html_inline', text: Html | string): Token => ({ type, content: text.toString() }) as Token

/** Returns an opening tag. */
const opening = (tag: string, attributes: Readonly<Record<string, string>>): string =>
  `<${tag}${Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${html`${value}`.toString()}"`)
    .join('')}>`
