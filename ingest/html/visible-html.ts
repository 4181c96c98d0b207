/**
 * What a person sees of the HTML of a message: elements that its styles hide are taken out and counted, for readers that are programs.
 * Works on sanitized documents, in one pass over a bounded beginning.
 */
import { createRequire } from 'node:module'
import type { Parser } from 'htmlparser2'
import type { MailDocument } from '#core/capture/reading/message-reader.ts'
import { HidingStyles, type Declarations, type StyledElement } from './hiding-styles.ts'

const require = createRequire(import.meta.url)

/** A link as it is shown, and where it leads. */
export interface VisibleLink {
  readonly text: string
  readonly href: string
}

export interface VisibleHtml {
  /** The document without what is hidden, in the form that `textOfHtml` reads. */
  readonly html: string
  /** Elements that were hidden. */
  readonly hidden: number
  readonly links: readonly VisibleLink[]
  /** The document goes on behind what was looked at. */
  readonly cut: boolean
}

const maxCharacters = 250_000
const maxStyles = 65_536
const maxLinks = 100
const voidElements = new Set(['br', 'col', 'hr', 'img', 'wbr'])

interface Colour {
  readonly red: number
  readonly green: number
  readonly blue: number
  readonly alpha: number
}

/** How an element looks, as far as it decides whether its text is seen. */
interface Look extends StyledElement {
  readonly hides: boolean
  readonly visible: boolean
  readonly fontPx: number
  readonly colour: Colour | undefined
  readonly background: Colour | undefined
}

const white: Colour = { red: 255, green: 255, blue: 255, alpha: 1 }
const black: Colour = { red: 0, green: 0, blue: 0, alpha: 1 }

export function visibleHtml({ html, styles, body }: Pick<MailDocument, 'html' | 'styles' | 'body'>): VisibleHtml {
  const { Parser: HtmlParser } = require('htmlparser2') as { Parser: typeof Parser }
  const sheets = new HidingStyles(styles.slice(0, maxStyles))
  const read = html.slice(0, maxCharacters)
  const root: Look = {
    name: 'html',
    classes: new Set(),
    id: undefined,
    hides: false,
    visible: true,
    fontPx: 16,
    colour: black,
    background: white,
  }
  const stack: Look[] = [root]
  stack.push(lookOf('body', body, stack, sheets))
  const pieces: string[] = []
  const links: { text: string; href: string }[] = []
  let open: { text: string; href: string } | undefined
  let hidden = stack.at(-1)?.hides ? 1 : 0
  const isShown = (): boolean => isSeen(stack.at(-1) ?? root)
  const parser = new HtmlParser(
    {
      onopentag(name, attributes) {
        const parent = stack.at(-1) ?? root
        const look = lookOf(name, attributes, stack, sheets)
        if (isSeen(parent) && !isSeen(look)) hidden++
        if (!look.hides) pieces.push(read.slice(parser.startIndex, parser.endIndex + 1))
        if (name === 'a' && attributes['href'] !== undefined && isSeen(look)) {
          open = { text: '', href: attributes['href'] }
          if (links.length < maxLinks) links.push(open)
        }
        stack.push(look)
      },
      ontext() {
        if (!isShown()) return
        const text = read.slice(parser.startIndex, parser.endIndex + 1)
        pieces.push(text)
        if (open && open.text.length < 200) open.text += text
      },
      onclosetag(name, isImplied) {
        const look = stack.pop()
        if (name === 'a') open = undefined
        if (!look?.hides && !voidElements.has(name) && !isImplied) pieces.push(`</${name}>`)
      },
    },
    { decodeEntities: false, lowerCaseTags: true, recognizeSelfClosing: true },
  )
  parser.end(read)
  return { html: pieces.join(''), hidden, links, cut: html.length > read.length }
}

const isSeen = ({ hides, visible, fontPx, colour, background }: Look): boolean =>
  !hides && visible && fontPx > 1.5 && !isAlike(colour, background)

function lookOf(name: string, attributes: Readonly<Record<string, string>>, stack: readonly Look[], sheets: HidingStyles): Look {
  const parent = stack.at(-1)
  const element = { name, classes: new Set((attributes['class'] ?? '').split(/\s+/).filter((one) => one !== '')), id: attributes['id'] }
  const says = sheets.declarationsOf(element, stack, decoded(attributes['style']))
  const colour = colourOf(says.get('color') ?? (name === 'font' ? attributes['color'] : undefined)) ?? parent?.colour
  const background = colourOf(backgroundOf(says) ?? attributes['bgcolor'])
  const visibility = says.get('visibility')
  return {
    ...element,
    hides: (parent?.hides ?? false) || 'hidden' in attributes || isGone(says),
    visible: visibility === undefined ? (parent?.visible ?? true) : visibility !== 'hidden' && visibility !== 'collapse',
    fontPx: fontOf(says, attributes, parent?.fontPx ?? 16),
    colour,
    background: background && background.alpha > 0.1 ? background : parent?.background,
  }
}

const decoded = (style: string | undefined): string | undefined => style?.replaceAll('&quot;', '"').replaceAll('&amp;', '&')

const backgroundOf = (says: Declarations): string | undefined =>
  says.get('background-color') ?? says.get('background')?.split(/\s+(?![^(]*\))/)[0]

/** Taken out of the page with everything inside. */
function isGone(says: Declarations): boolean {
  const px = (property: string): number => pixels(says.get(property) ?? '', 16)
  if (says.get('display') === 'none' || says.get('mso-hide') === 'all') return true
  if (Number(says.get('opacity') ?? 1) < 0.06 || /^[0-5](?:\.\d+)?%$/.test(says.get('opacity') ?? '')) return true
  const isPlaced = says.get('position') === 'absolute' || says.get('position') === 'fixed'
  const isFar = (property: string): boolean => px(property) <= -400
  if (isPlaced && ['left', 'right', 'top', 'bottom'].some(isFar)) return true
  if (['text-indent', 'margin-left', 'margin-top'].some(isFar)) return true
  if (
    /translate[xy3d]*\(\s*-\d{3,}/.test(says.get('transform') ?? '') ||
    /scale[xy3d]*\(\s*0(?:[,)\s]|\.0)/.test(says.get('transform') ?? '')
  )
    return true
  if (
    /rect\(\s*[01](?:px)?[,\s]+[01](?:px)?[,\s]+[01](?:px)?/.test(says.get('clip') ?? '') ||
    /inset\(\s*(?:[5-9]\d|100)%/.test(says.get('clip-path') ?? '')
  )
    return true
  const isClosed = /hidden|clip/.test(says.get('overflow') ?? '')
  const isNarrow = ['height', 'max-height', 'width', 'max-width'].some((property) => px(property) <= 1)
  return isNarrow && isClosed
}

function fontOf(says: Declarations, attributes: Readonly<Record<string, string>>, inherited: number): number {
  const given = says.get('font-size') ?? /(?:^|\s)([\d.]+(?:px|pt|em|rem|%))(?:\/|\s)/.exec(says.get('font') ?? '')?.[1] ?? undefined
  if (given === undefined) return attributes['size'] === undefined ? inherited : 16
  const size = pixels(given, inherited)
  return Number.isNaN(size) ? inherited : size
}

/** NaN where it is no length. */
function pixels(text: string, em: number): number {
  const [, digits, unit = ''] = /^(-?[\d.]+)(px|pt|pc|em|rem|ex|ch|in|cm|mm|vw|vh|%)?$/.exec(text.trim()) ?? []
  if (digits === undefined) return NaN
  const per: Readonly<Record<string, number>> = {
    pt: 1.33,
    pc: 16,
    in: 96,
    cm: 38,
    mm: 3.8,
    em,
    rem: 16,
    ex: em / 2,
    ch: em / 2,
    '%': em / 100,
    vw: 8,
    vh: 6,
  }
  return Number(digits) * (per[unit] ?? 1)
}

const named: Readonly<Record<string, string>> = {
  ...{ white: 'ffffff', black: '000000', red: 'ff0000', green: '008000', blue: '0000ff', yellow: 'ffff00', gray: '808080', grey: '808080' },
  ...{
    silver: 'c0c0c0',
    navy: '000080',
    snow: 'fffafa',
    ivory: 'fffff0',
    ghostwhite: 'f8f8ff',
    whitesmoke: 'f5f5f5',
    floralwhite: 'fffaf0',
  },
}

/** Undefined for what is none of the usual forms: then nothing is known. */
function colourOf(text: string | undefined): Colour | undefined {
  const given = text?.trim().toLowerCase() ?? ''
  if (given === 'transparent') return { ...white, alpha: 0 }
  const hex = /^#?([0-9a-f]{3,8})$/.exec(named[given] ?? given)?.[1]
  if (hex !== undefined) return ofHex(hex)
  const [, red, green, blue, alpha = '1'] = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)(?:[\s,/]+([\d.]+%?))?\s*\)$/.exec(given) ?? []
  if (red === undefined) return undefined
  return {
    red: Number(red),
    green: Number(green),
    blue: Number(blue),
    alpha: alpha.endsWith('%') ? Number.parseFloat(alpha) / 100 : Number(alpha),
  }
}

function ofHex(hex: string): Colour | undefined {
  const wide = hex.length < 6 ? [...hex].map((digit) => digit + digit).join('') : hex
  if (wide.length !== 6 && wide.length !== 8) return undefined
  const part = (at: number): number => Number.parseInt(wide.slice(at, at + 2), 16)
  return { red: part(0), green: part(2), blue: part(4), alpha: wide.length === 8 ? part(6) / 255 : 1 }
}

/** A person does not read letters that stand out from their ground by so little. */
function isAlike(colour: Colour | undefined, ground: Colour | undefined): boolean {
  if (!colour) return false
  if (colour.alpha < 0.06) return true
  if (!ground) return false
  return Math.abs(colour.red - ground.red) + Math.abs(colour.green - ground.green) + Math.abs(colour.blue - ground.blue) < 30
}
