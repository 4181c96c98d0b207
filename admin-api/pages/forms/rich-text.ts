/**
 * The markup that texts of forms may contain: bold, italic, lists, and links to https and mail addresses. Everything else is plain text.
 */
import { html, type Html } from '../layout/html.ts'

/** Part of a text: a paragraph of lines, or a list. */
export type Block =
  { readonly kind: 'lines'; readonly lines: readonly string[] } | { readonly kind: 'list' | 'numbers'; readonly lines: readonly string[] }

/** Paragraphs end at an empty line; lines that begin with `-`, `*` or a number make a list. */
export function blocksOf(text: string): readonly Block[] {
  const blocks: { kind: Block['kind']; lines: string[] }[] = []
  let isOpen = false
  for (const line of text.split('\n')) {
    if (line.trim() === '') {
      isOpen = false
      continue
    }
    const [, bullet, number, rest = ''] = /^ {0,3}(?:([-*])|(\d{1,3})[.)]) +(\S.*)$/.exec(line) ?? []
    const kind = bullet === undefined ? (number === undefined ? 'lines' : 'numbers') : 'list'
    const last = blocks.at(-1)
    if (isOpen && last?.kind === kind) last.lines.push(kind === 'lines' ? line : rest)
    else blocks.push({ kind, lines: [kind === 'lines' ? line : rest] })
    isOpen = true
  }
  return blocks
}

/** Returns the text as paragraphs and lists. */
export const richText = (text: string): Html => html`${blocksOf(text).map(block)}`

function block({ kind, lines }: Block): Html {
  if (kind === 'lines') return html`<p>${inLines(lines)}</p>`
  const items = lines.map((line) => html`<li>${inline(line)}</li>`)
  return kind === 'list'
    ? html`<ul>
        ${items}
      </ul>`
    : html`<ol>
        ${items}
      </ol>`
}

const inLines = (lines: readonly string[]): Html =>
  html`${lines.map((line, at) => (at === 0 ? inline(line) : html`<br />${inline(line)}`))}`

/** Returns a text for a label, without blocks. */
export const richLine = (text: string): Html => inLines(text.split('\n'))

const marks =
  /\*\*([^*\n]{1,500})\*\*|\*([^*\s][^*\n]{0,500})\*|(?<!\w)_([^_\n]{1,500})_(?!\w)|\[([^[\]\n]{1,300})\]\(((?:https:\/\/|mailto:)[^\s()<>"]{1,1000})\)/g

function inline(line: string): Html {
  const parts: (Html | string)[] = []
  let at = 0
  for (const { 0: whole, 1: strong, 2: star, 3: emphasis = star, 4: label, 5: href, index } of line.matchAll(marks)) {
    parts.push(line.slice(at, index))
    if (strong !== undefined) parts.push(html`<strong>${strong}</strong>`)
    else if (emphasis !== undefined) parts.push(html`<em>${emphasis}</em>`)
    else parts.push(html`<a href="${href}" target="_blank" rel="noopener">${label}</a>`)
    at = index + whole.length
  }
  return html`${parts}${line.slice(at)}`
}
