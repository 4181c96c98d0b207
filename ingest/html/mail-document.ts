/** The HTML of a message as a document of its own: its content, its style sheets, and what its `html` and `body` elements say. */
import { Parser } from 'htmlparser2'
import type { MailDocument } from '#core/capture/reading/message-reader.ts'
import { boundedHtml, countedLength } from './bounded-html.ts'
import { noLocations, type PartLocations } from './content-address.ts'
import { safeDeclarations, safeStylesheet, unjudgedRule } from './mail-styles.ts'
import { charactersLeftOut, documentHtml, readablePart } from './sanitize-html.ts'

/** Characters of all style sheets together, without the content of `data:` addresses. */
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

/** Whether rules of style sheets are left out, which could hide text. */
export const hasCutStyles = ({ styles }: Pick<MailDocument, 'styles'>): boolean => styles.endsWith(unjudgedRule)

/** Whether style sheets may name an element: any word of them counts. */
function namedIn(styles: string): (name: string) => boolean {
  const words = new Set(styles.toLowerCase().match(/[a-z][a-z0-9-]*/g))
  return (name) => (name.includes(':') ? styles.includes(name.replace(':', '\\:')) : words.has(name))
}

/** What stands around the content. */
class Surroundings {
  /** Each is read by itself, as an open brace of one is no business of the next. */
  readonly sheets: string[] = []
  #room = maxStyles
  /** Rules after the limit, or for a query that is not understood, are left out. */
  isCut = false
  readonly root: Record<string, string> = {}
  readonly body: Record<string, string> = {}

  /** `isBeginning`: the message has more HTML, which is left out. */
  read(html: string, isBeginning: boolean): void {
    let sheet: string | undefined
    let media = ''
    const parser = new Parser({
      onopentag: (name, attributes) => {
        // a second one adds what the first does not say, as in browsers (WHATWG HTML, "in body")
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

/** Of what is shown alone: names are the sender's, and a message may repeat these elements without end. */
function addMissing(known: Record<string, string>, attributes: Attributes): void {
  for (const name of shownAttributes) {
    const value = attributes[name]
    if (value !== undefined) known[name] ??= value
  }
}

/** Names and values are safe, and the values are yet to be escaped. */
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
