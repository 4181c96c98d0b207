/** The HTML of a message as a separate document: its content, its style sheets, and the attributes of its `html` and `body` elements. */
import { Parser } from 'htmlparser2'
import type { MailDocument } from '#core/capture/reading/message-reader.ts'
import { boundedHtml, countedLength } from './bounded-html.ts'
import { noLocations, type PartLocations } from './content-address.ts'
import { safeDeclarations, safeStylesheet, unjudgedRule } from './mail-styles.ts'
import { charactersLeftOut, documentHtml, readablePart } from './sanitize-html.ts'

/** Limit for all style sheets together, in characters without the content of `data:` addresses. */
const maxStyles = 128 * 1024
const maxAttribute = 2000
const color = /^#?[a-z0-9]{1,30}$/i
const language = /^[a-z0-9-]{1,35}$/i
const mediaQuery = /^[a-z0-9 (),:.<>=/-]{1,300}$/i

const shownAttributes = ['style', 'bgcolor', 'text', 'background', 'class', 'id', 'lang', 'dir']

type Attributes = Readonly<Record<string, string>>

export function mailDocument(html: string, locations: PartLocations = noLocations): MailDocument {
  const found = new Surroundings()
  const leftOut = charactersLeftOut(html)
  if (/<(?:style|body|html)\b/i.test(html)) found.read(readablePart(html), leftOut > 0)
  found.isCut ||= leftOut > 0 && /<style\b/i.test(html.slice(-leftOut))
  const styles = [...found.sheets.map((sheet) => safeStylesheet(sheet, locations)), ...(found.isCut ? [unjudgedRule] : [])].join('\n')
  return {
    html: documentHtml(html, locations, namedIn(styles)),
    styles,
    root: elementAttributes(found.root, locations),
    body: elementAttributes(found.body, locations),
  }
}

/** True if style rules that could hide text were omitted. */
export const hasCutStyles = ({ styles }: Pick<MailDocument, 'styles'>): boolean => styles.endsWith(unjudgedRule)

/** Returns a function that reports whether style sheets may refer to an element: any word of the style sheets counts. */
function namedIn(styles: string): (name: string) => boolean {
  const words = new Set(styles.toLowerCase().match(/[a-z][a-z0-9-]*/g))
  return (name) => (name.includes(':') ? styles.includes(name.replace(':', '\\:')) : words.has(name))
}

/** Style sheets and attributes around the content. */
class Surroundings {
  /** Each sheet is sanitized separately, so that an unclosed brace does not affect the next sheet. */
  readonly sheets: string[] = []
  #room = maxStyles
  /** True if rules beyond the limit, or for an unknown query, were omitted. */
  isCut = false
  readonly root: Record<string, string> = {}
  readonly body: Record<string, string> = {}

  /** Reads the elements around the content. `isBeginning`: `html` is a prefix of the message's HTML. */
  read(html: string, isBeginning: boolean): void {
    let sheet: string | undefined
    let media = ''
    const parser = new Parser({
      onopentag: (name, attributes) => {
        // a repeated element adds only missing attributes, as in browsers (WHATWG HTML, "in body")
        if (name === 'html') addMissing(this.root, attributes)
        else if (name === 'body') addMissing(this.body, attributes)
        else if (name === 'style') [sheet, media] = ['', attributes['media'] ?? '']
      },
      ontext: (text) => {
        if (sheet !== undefined) sheet += text
      },
      onclosetag: (name, isImplied) => {
        if (name !== 'style' || sheet === undefined) return
        this.isCut ||= isImplied && isBeginning
        this.#add(sheet, media.trim())
        sheet = undefined
      },
    })
    parser.end(html)
  }

  #add(sheet: string, media: string): void {
    const text = boundedHtml(sheet, this.#room)
    this.#room -= countedLength(text)
    this.isCut ||= text.length < sheet.length
    if (media === '' || media.toLowerCase() === 'all') this.sheets.push(text)
    else if (mediaQuery.test(media)) this.sheets.push(`@media ${media}{${text}\n}`)
    else this.isCut = true
  }
}

/** Keeps only the displayed attributes: the sender chooses the names, and may repeat these elements without limit. */
function addMissing(known: Record<string, string>, attributes: Attributes): void {
  for (const name of shownAttributes) {
    const value = attributes[name]
    if (value !== undefined) known[name] ??= value
  }
}

/** Returns safe names and values. Values still need HTML escaping. */
function elementAttributes(
  { style = '', bgcolor, text, background, ...rest }: Attributes,
  locations: PartLocations,
): Record<string, string> {
  const old = [
    ...(color.test(bgcolor ?? '') ? [`background-color:${bgcolor}`] : []),
    ...(color.test(text ?? '') ? [`color:${text}`] : []),
    ...(background === undefined ? [] : [`background-image:url("${background.replaceAll(/["\\\n\r\f]/g, '')}")`]),
  ]
  const safe = safeDeclarations([...old, boundedHtml(style, maxAttribute)].join(';'), locations)
  const kept: Record<string, string> = safe === '' ? {} : { style: safe }
  for (const name of ['class', 'id']) if (rest[name] !== undefined) kept[name] = rest[name].slice(0, maxAttribute)
  if (language.test(rest['lang'] ?? '')) kept['lang'] = rest['lang'] ?? ''
  if (/^(?:ltr|rtl|auto)$/i.test(rest['dir'] ?? '')) kept['dir'] = rest['dir'] ?? ''
  return kept
}
