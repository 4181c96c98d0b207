/** Determines visible and hidden content of HTML in one pass over its tags, without a browser. */
import { Parser } from 'htmlparser2'
import { addressOf, baseOf, linkElements, resolvedAddress } from '../../html/addressed-elements.ts'
import { ShownStyle } from './shown-style.ts'

export interface PageLink {
  readonly href: string
  /** The visible text of the link. */
  readonly text: string
}

export interface PageImage {
  readonly hasAlt: boolean
  /** Too small to be visible. */
  readonly isPixel: boolean
}

export interface HtmlPage {
  /** The visible text. */
  readonly text: string
  readonly links: readonly PageLink[]
  readonly images: readonly PageImage[]
  /** Active content, which no mail client runs and which receivers treat as an attack. */
  readonly active: readonly string[]
  /** Numbers of characters: hidden (without a preview text), tiny, and in the colour of the background. */
  readonly hidden: number
  readonly tiny: number
  readonly camouflaged: number
}

const forbidden: ReadonlySet<string> = new Set(['script', 'form', 'iframe', 'object', 'embed', 'applet', 'frame', 'frameset'])
const unseen: ReadonlySet<string> = new Set(['script', 'style', 'title', 'head', 'noscript', 'template'])
const empty: ReadonlySet<string> = new Set(['area', 'base', 'br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr', 'embed'])
const maxItems = 2000
const maxDepth = 500
const maxOpen = 5000
const pieceLength = 16_384
const maxText = 500_000

export function readPage(html: string): HtmlPage {
  const reader = new HtmlPageReader()
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes),
      ontext: (text) => reader.take(text),
      onclosetag: (name) => reader.close(name),
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true, recognizeSelfClosing: false },
  )
  // the parser's list of open tags is slow, so parsing stops at the depth limit
  for (let at = 0; at < html.length && !reader.isTooDeep; at += pieceLength) parser.write(html.slice(at, at + pieceLength))
  if (!reader.isTooDeep) parser.end()
  return reader.page()
}

interface Level {
  readonly name: string
  readonly style: ShownStyle
  readonly isUnseen: boolean
}

class HtmlPageReader {
  readonly #levels: Level[] = [{ name: '', style: ShownStyle.root, isUnseen: false }]
  readonly #links: { href: string; text: string }[] = []
  readonly #images: PageImage[] = []
  readonly #active = new Set<string>()
  #text = ''
  #hidden = 0
  #tiny = 0
  #camouflaged = 0
  #link: { href: string; text: string } | undefined
  #base: string | undefined
  #isPreview = true
  #open = 0

  get isTooDeep(): boolean {
    return this.#open > maxOpen
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#noteActive(name, attributes)
    const above = this.#level()
    if (name === 'img' && this.#images.length < maxItems) this.#images.push(imageOf(attributes))
    if (name === 'base') this.#base ??= baseOf(attributes['href'])
    const address = addressOf(name, attributes)
    if (address !== undefined && this.#links.length < maxItems) {
      const href = resolvedAddress(address, this.#base)?.href ?? address.trim()
      const link = { href, text: name === 'area' ? (attributes['alt'] ?? '') : '' }
      if (linkElements.has(name)) this.#link = link
      this.#links.push(link)
    }
    if (name === 'img' && this.#link) this.#link.text += ` ${attributes['alt'] ?? ''} `
    if (empty.has(name)) return void (this.#text += ' ')
    this.#open += 1
    if (this.#levels.length > maxDepth) return
    this.#levels.push({ name, style: above.style.inside(attributes), isUnseen: above.isUnseen || unseen.has(name) })
  }

  take(text: string): void {
    const { style, isUnseen } = this.#level()
    if (isUnseen || this.#text.length > maxText) return
    const length = text.replaceAll(/[\s\p{Default_Ignorable_Code_Point}]+/gu, '').length
    if (style.isHidden) {
      // hidden text before all other text is a preview, which mail clients display next to the subject
      if (!this.#isPreview) this.#hidden += length
      else this.#hidden += Math.max(0, length - 200)
      return
    }
    if (length > 0) this.#isPreview = false
    if (style.isTiny) this.#tiny += length
    if (style.isCamouflaged) this.#camouflaged += length
    this.#text += text
    if (this.#link) this.#link.text += text
  }

  close(name: string): void {
    if (name === 'a') this.#link = undefined
    if (!empty.has(name)) this.#open -= 1
    this.#text += ' '
    const at = this.#levels.findLastIndex((level) => level.name === name)
    if (at > 0) this.#levels.length = at
  }

  page(): HtmlPage {
    return {
      text: this.#text.replaceAll(/\s+/g, ' ').trim(),
      links: this.#links.map(({ href, text }) => ({ href, text: text.replaceAll(/\s+/g, ' ').trim() })),
      ...{ images: this.#images, active: [...this.#active], hidden: this.#hidden, tiny: this.#tiny, camouflaged: this.#camouflaged },
    }
  }

  #level(): Level {
    const level = this.#levels.at(-1)
    if (!level) throw new Error('the page has no root')
    return level
  }

  #noteActive(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#active.size > 50) return
    if (forbidden.has(name)) this.#active.add(`<${name}>`)
    if (name === 'meta' && /^\s*refresh\s*$/i.test(attributes['http-equiv'] ?? '')) this.#active.add('<meta http-equiv="refresh">')
    for (const [attribute, value] of Object.entries(attributes)) {
      if (/^on[a-z]{3,}$/.test(attribute)) this.#active.add(`${attribute}="…"`)
      if (!/^(?:href|src|action|formaction|background|xlink:href)$/.test(attribute)) continue
      const scheme = value.slice(0, 200).replaceAll(/[\s\p{Cc}]/gu, '')
      if (/^(?:javascript|vbscript):/i.test(scheme)) this.#active.add('javascript:')
      if (/^data:(?:text\/html|image\/svg)/i.test(scheme) && attribute !== 'src') this.#active.add('data:text/html')
    }
  }
}

function imageOf(attributes: Readonly<Record<string, string>>): PageImage {
  const size = (name: string): number => {
    const inStyle = new RegExp(String.raw`(?:^|;)\s*${name}\s*:\s*(\d{1,6})(?:px)?\s*(?:;|$|!)`, 'i').exec(attributes['style'] ?? '')?.[1]
    return Number.parseInt(inStyle ?? attributes[name] ?? '', 10)
  }
  return { hasAlt: attributes['alt'] !== undefined, isPixel: size('width') <= 2 || size('height') <= 2 }
}
