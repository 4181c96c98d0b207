/** Finds links in HTML by their places, with a tokenizer that reads broken HTML as browsers do. Nothing is changed here. */
import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** The value of an `href`, with its quotes where it has any. Places count octets. */
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
}

/**
 * The links of `a` and `area`, save those whose tag has the attribute `data-no-track` or `clicktracking=off`. `html` has one
 * character an octet; `textOf` reads octets of a value in the charset of the document.
 */
export function findHtmlSpans(html: string, textOf: (octets: string) => string): HtmlSpans {
  const reader = new TagReader(html, textOf)
  const tokenizer = new Tokenizer({ decodeEntities: true }, reader)
  tokenizer.write(html)
  tokenizer.end()
  return reader
}

const nothing = (): void => {}

/** What the tokenizer calls; it keeps what is known of the tag that is being read. */
class TagReader implements TokenizerCallbacks {
  readonly links: LinkSpan[] = []
  bodyEnd: number | undefined
  readonly #html: string
  readonly #textOf: (octets: string) => string
  #isLink = false
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
    const name = end - start <= 'area'.length ? this.#html.slice(start, end).toLowerCase() : ''
    this.#isLink = name === 'a' || name === 'area'
    this.#href = undefined
    this.#isExempt = false
  }

  onattribname(start: number, end: number): void {
    if (!this.#isLink) return
    this.#attribute = this.#html.slice(start, end).toLowerCase()
    this.#valueStart = end
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    if (this.#isLink) this.#value += this.#textOf(this.#html.slice(start, end))
  }

  onattribentity(codePoint: number): void {
    if (this.#isLink) this.#value += String.fromCodePoint(codePoint)
  }

  onattribend(quote: QuoteType, end: number): void {
    if (!this.#isLink) return
    const isOff = this.#attribute === 'clicktracking' && this.#value.trim().toLowerCase() === 'off'
    if (isOff || this.#attribute === 'data-no-track') this.#isExempt = true
    // of several attributes with one name the first counts
    if (this.#attribute !== 'href' || this.#href || quote === QuoteType.NoValue) return
    this.#href = { start: this.#afterEqualsSign(), end, value: this.#value }
  }

  onopentagend(): void {
    if (this.#isLink && this.#href && !this.#isExempt) this.links.push(this.#href)
    this.#isLink = false
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
