/**
 * The visible part of a message's HTML, for programs that read mail. Text that styles hide is removed and counted, and text of uncertain
 * visibility is enclosed in marks. The input is sanitized HTML; one pass over a bounded prefix.
 */
import { createRequire } from 'node:module'
import type { Parser } from 'htmlparser2'
import type { MailDocument, VisibleLink } from '#core/capture/reading/message-reader.ts'
import { boundedHtml } from '../bounded-html.ts'
import { withAddresses } from '../mail-styles.ts'
import { allOf, type Certainty } from './certainty.ts'
import { isKeptFromPeople, lookOf, rootLook, type Look } from './look.ts'
import type { StyledElement } from './selectors.ts'
import { StyleRules, type Declarations } from './style-rules.ts'

const require = createRequire(import.meta.url)

export interface VisibleHtml {
  /** The document without hidden text, as input for `textOfHtml`. Marks enclose text that may be hidden. */
  readonly html: string
  /** Number of hidden elements. */
  readonly hidden: number
  /** Number of marked passages. */
  readonly marked: number
  readonly links: readonly VisibleLink[]
  /** Number of links after the last one in `links`. */
  readonly linksLeftOut: number
  /** Number of characters after the processed prefix. */
  readonly leftOut: number
}

/** Enclose text that may be hidden. In foreign text, these characters are replaced. */
export const marks = { open: '\ue000', close: '\ue001' } as const
const foreignMarks = /[\ue000\ue001]/g

const maxCharacters = 250_000
const maxStyles = 65_536
const maxLinks = 100
const maxLinkText = 2000
const voidElements = new Set(['area', 'br', 'col', 'hr', 'img', 'wbr'])
/** Elements that do not separate words. */
const inlineElements = new Set(['b', 'strong', 'i', 'em', 'u', 's', 'font', 'span', 'small', 'big', 'sub', 'sup', 'code', 'wbr'])

/** An open element with its look in each view. */
interface Level extends StyledElement {
  readonly looks: readonly Look[]
  readonly shown: Shown
  /** The sanitizer replaced the element, or one of its ancestors, by an element that may show more. */
  readonly isUnsure: boolean
  lastChild: StyledElement | undefined
}

const anyElement: StyledElement = { name: 'div', classes: new Set(), id: undefined, attributes: {}, parent: undefined, previous: undefined }

type Shown = 'yes' | 'maybe' | 'no' | 'gone'

export function visibleHtml({ html, styles, root, body }: Pick<MailDocument, 'html' | 'styles' | 'root' | 'body'>): VisibleHtml {
  const { Parser: HtmlParser } = require('htmlparser2') as { Parser: typeof Parser }
  const read = boundedHtml(html, maxCharacters).replaceAll(foreignMarks, '\ufffd')
  const rules = withAddresses(styles, () => 'cid:x') // addresses do not affect visibility, and embedded images in a style sheet are long
  const page = new Page(new StyleRules(rules.slice(0, maxStyles)), rules.length > maxStyles)
  page.open('html', root)
  page.open('body', body)
  const parser = new HtmlParser(
    {
      onopentag: (name, attributes) => page.open(name, attributes, read.slice(parser.startIndex, parser.endIndex + 1)),
      ontext: () => page.take(read.slice(parser.startIndex, parser.endIndex + 1)),
      onclosetag: (name, isImplied) => page.close(name, isImplied),
    },
    { decodeEntities: false, lowerCaseTags: true, recognizeSelfClosing: true },
  )
  parser.end(read)
  return { ...page.end(), leftOut: html.length - read.length }
}

class Page {
  readonly #rules: StyleRules
  readonly #areRulesCut: boolean
  /** Names of animations with a step that could hide text. */
  readonly #hidingAnimations: ReadonlySet<string>
  readonly #stack: Level[] = []
  readonly #pieces: string[] = []
  readonly #links: { text: string; href: string }[] = []
  #link: { text: string; href: string } | undefined
  #linksLeftOut = 0
  #hidden = 0
  #marked = 0
  #isMarked = false

  constructor(rules: StyleRules, areRulesCut: boolean) {
    this.#rules = rules
    this.#areRulesCut = areRulesCut
    const isHiding = (steps: readonly Declarations[]): boolean =>
      steps.some((says) => isKeptFromPeople(lookOf(anyElement, says, rootLook, new Set())) !== 'no')
    this.#hidingAnimations = new Set([...rules.animations].filter(([, steps]) => isHiding(steps)).map(([name]) => name))
  }

  /** Opens an element. `tag` is its source text, empty for the elements around the document. */
  open(name: string, given: Readonly<Record<string, string>>, tag = ''): void {
    const above = this.#stack.at(-1)
    const attributes = decodedAttributes(given)
    const level = this.#levelOf(name, attributes, above)
    if (above) above.lastChild = level
    if ((above?.shown ?? 'yes') !== 'no' && above?.shown !== 'gone' && (level.shown === 'no' || level.shown === 'gone')) this.#hidden++
    if (level.shown !== 'gone') this.#pieces.push(tag)
    const href = given['href'] ?? given['data-address']
    if (href !== undefined && level.shown !== 'no' && level.shown !== 'gone') {
      const link = { text: name === 'area' ? (given['alt'] ?? '') : '', href }
      if (this.#links.length < maxLinks) this.#links.push(link)
      else this.#linksLeftOut++
      if (name === 'a') this.#link = link
    } else if (name === 'img') this.#addToLink(` ${given['alt'] ?? ''} `)
    else if (!inlineElements.has(name)) this.#addToLink(' ')
    this.#stack.push(level)
  }

  take(text: string): void {
    const { shown } = this.#stack.at(-1) ?? { shown: 'yes' }
    if (shown === 'no' || shown === 'gone') return
    if (text.trim() !== '') this.#mark(shown === 'maybe')
    this.#pieces.push(text)
    this.#addToLink(text)
  }

  #addToLink(text: string): void {
    if (this.#link && this.#link.text.length < maxLinkText) this.#link.text += text
  }

  close(name: string, isImplied: boolean): void {
    const level = this.#stack.pop()
    if (!inlineElements.has(name)) this.#addToLink(' ')
    if (name === 'a') this.#link = undefined
    if (level?.shown !== 'gone' && !voidElements.has(name) && !isImplied) this.#pieces.push(`</${name}>`)
  }

  end(): Omit<VisibleHtml, 'leftOut'> {
    this.#mark(false)
    return { html: this.#pieces.join(''), hidden: this.#hidden, marked: this.#marked, links: this.#links, linksLeftOut: this.#linksLeftOut }
  }

  #mark(isDoubtful: boolean): void {
    if (isDoubtful === this.#isMarked) return
    this.#isMarked = isDoubtful
    if (isDoubtful) this.#marked++
    this.#pieces.push(isDoubtful ? marks.open : marks.close)
  }

  #levelOf(name: string, attributes: Readonly<Record<string, string>>, above: Level | undefined): Level {
    const element: StyledElement = {
      name: attributes['data-tag'] ?? name,
      classes: new Set((attributes['class'] ?? '').split(/\s+/).filter((one) => one !== '')),
      id: attributes['id'],
      attributes,
      parent: above,
      previous: above?.lastChild,
    }
    const declared = this.#rules.declarationsOf(element, attributes['style'])
    const looks = declared.map((says, view) => lookOf(element, says, above?.looks[view] ?? rootLook, this.#hidingAnimations))
    const isUnsure = 'data-unsure' in attributes || above?.isUnsure === true
    return { ...element, looks, isUnsure, shown: this.#shownOf(looks, isUnsure), lastChild: undefined }
  }

  /** Text is visible if at least one screen shows it. All uncertain rules together apply or do not apply. */
  #shownOf(looks: readonly Look[], isUnsure: boolean): Shown {
    const { views } = this.#rules
    const kept = looks.map(isKeptFromPeople)
    const keptBy = (withDoubts: boolean): Certainty => allOf(kept.filter((_, at) => (views[at]?.withDoubts ?? false) === withDoubts))
    const [plain, doubted] = [keptBy(false), views.some(({ withDoubts }) => withDoubts) ? keptBy(true) : keptBy(false)]
    if (plain === 'yes' && doubted === 'yes') return looks.every(({ isHidden }) => isHidden === 'yes') ? 'gone' : 'no'
    const isChecked = plain === 'no' && doubted === 'no' && !isUnsure
    return isChecked && !this.#rules.isExceeded && !this.#areRulesCut ? 'yes' : 'maybe'
  }
}

const entities: Readonly<Record<string, string>> = { '&quot;': '"', '&lt;': '<', '&gt;': '>', '&amp;': '&' }

const decodedAttributes = (given: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.values(given).some((value) => value.includes('&'))
    ? Object.fromEntries(
        Object.entries(given).map(([name, value]) => [
          name,
          value.replaceAll(/&(?:quot|lt|gt|amp);/g, (entity) => entities[entity] ?? entity),
        ]),
      )
    : given
