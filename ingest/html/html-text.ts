/** Converts sanitized HTML to readable text in one pass, for messages without a text part. */

const separate = new Set(['blockquote', 'dl', 'figure', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'ol', 'p', 'pre', 'table', 'ul'])
const ownLine = new Set([
  ...['address', 'article', 'aside', 'br', 'caption', 'center', 'dd', 'div', 'dt', 'figcaption', 'footer', 'header', 'li', 'main', 'nav'],
  ...['section', 'tr'],
])
const maxMarked = 8192
const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }

/**
 * Converts sanitized HTML. Blocks start new lines, list items begin with a dash, and spaces separate table cells. The address of a link
 * follows its text, unless the text contains it.
 */
export function textOfHtml(sanitized: string): string {
  const text = new TextLines()
  const links: (string | undefined)[] = []
  let preformatted = 0
  for (let at = 0; at < sanitized.length;) {
    const open = sanitized.indexOf('<', at)
    const end = open < 0 ? sanitized.length : open
    text.add(decodeEntities(sanitized.slice(at, end)), preformatted > 0)
    if (open < 0) break
    const close = sanitized.indexOf('>', open)
    if (close < 0) break
    const tag = sanitized.slice(open + 1, close)
    const name = /^\/?([a-z0-9]+)/.exec(tag)?.[1] ?? ''
    if (name === 'pre') preformatted += tag.startsWith('/') ? -1 : 1
    if (name === 'a') showLink(tag, links, text)
    else layOut(tag, name, text)
    if (!tag.startsWith('/') && name !== 'a') showAddress(tag, text)
    at = close + 1
  }
  return text.toString()
}

function layOut(tag: string, name: string, text: TextLines): void {
  if (separate.has(name)) text.breakLines(2)
  else if (ownLine.has(name)) text.breakLines(1, name === 'br')
  if (tag.startsWith('/')) return
  if (name === 'li') text.add('- ', false)
  if (name === 'td' || name === 'th') text.add(' ', false)
  if (name === 'img') text.add(decodeEntities(/ alt="([^"]*)"/.exec(tag)?.[1] ?? ''), false)
}

/** Shows the address of an image area, with its alternative text, or of a form. */
function showAddress(tag: string, text: TextLines): void {
  const [, href] = / (?:href|data-address)="([^"]*)"/.exec(tag) ?? []
  if (href === undefined) return
  text.add(decodeEntities(` ${/ alt="([^"]*)"/.exec(tag)?.[1] ?? ''} <${href}> `), false)
}

function showLink(tag: string, links: (string | undefined)[], text: TextLines): void {
  if (!tag.startsWith('/')) {
    const href = / href="([^"]*)"/.exec(tag)?.[1]
    links.push(href === undefined ? undefined : decodeEntities(href))
    text.mark()
    return
  }
  const href = links.pop()
  if (href === undefined) return
  const address = href.replace(/^mailto:/, '').replace(/\/$/, '')
  if (!text.sinceMark().includes(address)) text.add(` <${href}>`, false)
}

const decodeEntities = (text: string): string => text.replaceAll(/&(?:amp|lt|gt|quot);/g, (entity) => entities[entity] ?? entity)

/** Text under construction. Collapses spaces inside a line and repeated empty lines. */
class TextLines {
  readonly #lines: string[] = []
  #pieces: string[] = []
  #wantsBlank = false
  #marked = ''

  add(text: string, preformatted: boolean): void {
    if (preformatted) this.#addAsIs(text)
    else this.#addCollapsed(text.replaceAll(/[ \t\r\n\f\u00a0]+/g, ' '))
  }

  /** Ends the line. With `count` 2 an empty line follows. `always` ends an empty line too. */
  breakLines(count: number, always = false): void {
    if (this.#pieces.length > 0 || always) this.#lines.push(this.#pieces.join('').trimEnd())
    this.#pieces = []
    this.#wantsBlank = false
    if (count > 1 && this.#lines.length > 0 && this.#lines.at(-1) !== '') this.#lines.push('')
  }

  mark(): void {
    this.#marked = ''
  }

  /** The beginning of the text added after the last mark. */
  sinceMark(): string {
    return this.#marked
  }

  toString(): string {
    this.breakLines(1)
    return this.#lines
      .filter((line, at) => line !== '' || this.#lines[at - 1] !== '')
      .join('\n')
      .trim()
  }

  #addAsIs(text: string): void {
    const [first = '', ...more] = text.split('\n')
    if (first !== '') this.#push(first)
    for (const line of more) {
      this.breakLines(1, true)
      if (line !== '') this.#push(line)
    }
  }

  #addCollapsed(text: string): void {
    const inner = text.trim()
    if (text.startsWith(' ')) this.#wantsBlank = true
    if (inner === '') return
    this.#push(this.#wantsBlank && this.#pieces.length > 0 ? ` ${inner}` : inner)
    this.#wantsBlank = text.endsWith(' ')
  }

  #push(piece: string): void {
    this.#pieces.push(piece)
    this.#wantsBlank = false
    if (this.#marked.length < maxMarked) this.#marked += piece
  }
}
