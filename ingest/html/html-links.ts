/** Finds links in HTML by their places, with a tokenizer that reads broken HTML as browsers do. Nothing is changed here. */
import { addressAttributes, baseOf, linkElements } from './addressed-elements.ts'
import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** The address of a link, with its quotes where it has any. Places count octets. */
export interface LinkSpan {
  readonly start: number
  readonly end: number
  /** Character references are decoded. */
  readonly value: string
}

export interface HtmlSpans {
  readonly links: readonly LinkSpan[]
  /** Where `</body>` begins; undefined without one. */
  readonly bodyEnd: number | undefined
  /** The address in the first `base` element, against which others are resolved. */
  readonly base: string | undefined
}

/**
 * The addresses of links, save those whose tag has the attribute `data-no-track` or `clicktracking=off`. `html` has one
 * character an octet; `textOf` reads octets of a value in the charset of the document.
 */
export function findHtmlSpans(html: string, textOf: (octets: string) => string): HtmlSpans {
  const reader = new TagReader(html, textOf)
  const tokenizer = new Tokenizer({ decodeEntities: true }, reader)
  tokenizer.write(html)
  tokenizer.end()
  return reader
}

const longestName = Math.max(...[...linkElements, 'base'].map((name) => name.length))
const nothing = (): void => {}

/** What the tokenizer calls; it keeps what is known of the tag that is being read. */
class TagReader implements TokenizerCallbacks {
  readonly links: LinkSpan[] = []
  bodyEnd: number | undefined
  base: string | undefined
  readonly #html: string
  readonly #textOf: (octets: string) => string
  /** Of a link or of `base`; empty in other tags. */
  #name = ''
  #href: LinkSpan | undefined
  #isExempt = false
  #attribute = ''
  #valueStart = 0
  #value = ''

  constructor(html: string, textOf: (octets: string) => string) {
    this.#html = html
    this.#textOf = textOf
  }

  onopentagname(start: number, end: number): void {
    const name = end - start <= longestName ? this.#html.slice(start, end).toLowerCase() : ''
    this.#name = linkElements.has(name) || name === 'base' ? name : ''
    this.#href = undefined
    this.#isExempt = false
  }

  onattribname(start: number, end: number): void {
    if (this.#name === '') return
    this.#attribute = this.#html.slice(start, end).toLowerCase()
    this.#valueStart = end
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    if (this.#name !== '') this.#value += this.#textOf(this.#html.slice(start, end))
  }

  onattribentity(codePoint: number): void {
    if (this.#name !== '') this.#value += String.fromCodePoint(codePoint)
  }

  onattribend(quote: QuoteType, end: number): void {
    if (this.#name === '') return
    const isOff = this.#attribute === 'clicktracking' && this.#value.trim().toLowerCase() === 'off'
    if (isOff || this.#attribute === 'data-no-track') this.#isExempt = true
    // of several attributes with one name the first counts
    const names = addressAttributes[this.#name] ?? ['href']
    if (!names.includes(this.#attribute) || this.#href || quote === QuoteType.NoValue) return
    this.#href = { start: this.#afterEqualsSign(), end, value: this.#value }
  }

  onopentagend(): void {
    if (this.#name === 'base') this.base ??= baseOf(this.#href?.value)
    else if (this.#href && !this.#isExempt) this.links.push(this.#href)
    this.#name = ''
    this.#href = undefined
  }

  onselfclosingtag(): void {
    this.onopentagend()
  }

  onclosetag(start: number, end: number): void {
    if (end - start === 'body'.length && this.#html.slice(start, end).toLowerCase() === 'body')
      this.bodyEnd = this.#html.lastIndexOf('<', start)
  }

  /** Where the value of the attribute begins, with its quote. */
  #afterEqualsSign(): number {
    const gap = /[ \t\r\n\f]*=[ \t\r\n\f]*/y
    gap.lastIndex = this.#valueStart
    gap.test(this.#html)
    return gap.lastIndex
  }

  readonly oncdata = nothing
  readonly oncomment = nothing
  readonly ondeclaration = nothing
  readonly onend = nothing
  readonly onprocessinginstruction = nothing
  readonly ontext = nothing
  readonly ontextentity = nothing
}
