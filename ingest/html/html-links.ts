/** Finds the places of links in HTML, with a tokenizer that parses broken HTML like browsers. */
import { addressAttributes, baseOf, linkElements } from './addressed-elements.ts'
import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** The place of a link address, including its quotes. Offsets count octets. */
export interface LinkSpan {
  readonly start: number
  readonly end: number
  /** The value with character references decoded. */
  readonly value: string
}

export interface HtmlSpans {
  readonly links: readonly LinkSpan[]
  /** Offset of `</body>`, or undefined. */
  readonly bodyEnd: number | undefined
  /** The address in the first `base` element, used to resolve the other addresses. */
  readonly base: string | undefined
}

/**
 * Finds the addresses of links, except in tags with the attribute `data-no-track` or `clicktracking=off`. `html` has one character for each
 * octet. `textOf` decodes octets of a value in the document's charset.
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

/** Callbacks of the tokenizer, with the state of the current tag. */
class TagReader implements TokenizerCallbacks {
  readonly links: LinkSpan[] = []
  bodyEnd: number | undefined
  base: string | undefined
  readonly #html: string
  readonly #textOf: (octets: string) => string
  /** Name of the current link or `base` tag; empty in other tags. */
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
    // if attributes have the same name, the first one counts
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

  /** The offset of the attribute's value, including its quote. */
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
