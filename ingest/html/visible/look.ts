/** The computed look of an element on one screen, as far as it determines whether its text is readable. */
import { anyOf, certainly, type Certainty } from './certainty.ts'
import { black, colourOf, coloursIn, isAlike, linkBlue, white, type Colour } from './colours.ts'
import { faint, isHiddenBox, type ValueOf } from './hiding.ts'
import { partsOf, pixels, share } from './lengths.ts'
import type { StyledElement } from './selectors.ts'
import type { Declarations } from './style-rules.ts'

type Ink = Colour | 'unknown'

export interface Look {
  /** The element is hidden with its content. */
  readonly isHidden: Certainty
  /** Its text is hidden; a nested element may be visible. */
  readonly isInvisible: boolean
  readonly opacity: number
  readonly fontPx: number | 'unknown'
  /** Lines or letters overlap. */
  readonly isSqueezed: boolean
  readonly ink: Ink
  /** The colour that fills letters instead of `ink`. */
  readonly fill: Ink | undefined
  readonly ground: Ink
  /** An image of unknown content covers the background. */
  readonly isPictured: boolean
  /** Custom properties. */
  readonly custom: ReadonlyMap<string, string>
}

export const rootLook: Look = {
  ...{ isHidden: 'no', isInvisible: false, opacity: 1, fontPx: 16, isSqueezed: false, ink: black, fill: undefined, ground: white },
  ...{ isPictured: false, custom: new Map() },
}

/** Text up to this font size is unreadable. */
const leastFontPx = 1.5
const maxCustom = 50

/** Decides whether text of this look is hidden from people. */
export function isKeptFromPeople({
  isHidden,
  isInvisible,
  opacity,
  fontPx,
  isSqueezed,
  ink,
  fill = ink,
  ground,
  isPictured,
}: Look): Certainty {
  const known = isInvisible || opacity < faint || (fontPx !== 'unknown' && fontPx <= leastFontPx)
  return anyOf([isHidden, certainly(known), fontPx === 'unknown' || isSqueezed ? 'maybe' : 'no', isUnread(fill, ground, isPictured)])
}

function isUnread(ink: Ink, ground: Ink, isPictured: boolean): Certainty {
  if (ink === 'unknown') return 'maybe'
  if (ink.alpha < faint) return isPictured ? 'maybe' : 'yes'
  if (ground === 'unknown') return 'maybe'
  if (!isAlike(ink, ground)) return 'no'
  return isPictured ? 'maybe' : 'yes'
}

/** Computes the look of an element from its declarations and its parent's look. */
export function lookOf(element: StyledElement, says: Declarations, parent: Look, hidingAnimations: ReadonlySet<string>): Look {
  const { name, attributes } = element
  const hidden = attributes['hidden']
  const isPlain = hidden === undefined && attributes['bgcolor'] === undefined && !/^(?:a|font|mark|bdo)$/.test(name)
  if (says.size === 0 && isPlain) return parent
  const custom = customOf(says, parent.custom)
  const valueOf: ValueOf = (property) => {
    const value = says.get(property)
    return value === undefined ? undefined : substituted(value, custom)
  }
  const byAttribute = certainly(hidden !== undefined && (hidden === 'until-found' || (valueOf('display') ?? 'none') === 'none'))
  const visibility = valueOf('visibility')
  const opacity = valueOf('opacity')
  const font = fontOf(valueOf, attributes, parent.fontPx)
  const letters = inkOf(element, valueOf, parent)
  const own = isHiddenBox(says.keys(), valueOf, hidingAnimations)
  const doubts = [
    own,
    visibility?.includes('(') ? 'maybe' : 'no',
    opacity !== undefined && share(opacity) === undefined ? isKeyword(opacity) : 'no',
  ] as const
  return {
    isHidden: anyOf([parent.isHidden, byAttribute, ...doubts, isReversed(valueOf, name)]),
    isInvisible:
      visibility === undefined || /^(?:inherit|unset)$/.test(visibility) ? parent.isInvisible : /^(?:hidden|collapse)$/.test(visibility),
    opacity: parent.opacity * Math.min(1, share(opacity ?? '1') ?? 1),
    ...font,
    isSqueezed: isSqueezed(valueOf, font.fontPx, parent.isSqueezed),
    ...letters,
    ...groundOf(valueOf, attributes, parent, letters.fill ?? letters.ink),
    custom,
  }
}

const isKeyword = (value: string): Certainty => (/^(?:initial|inherit|unset|revert)$/.test(value) ? 'no' : 'maybe')

/** Detects letters in another order than the source, or displayed as dots. */
const isReversed = (valueOf: ValueOf, name: string): Certainty =>
  name === 'bdo' || /override/.test(valueOf('unicode-bidi') ?? '') || !/^(?:none|initial)$/.test(valueOf('-webkit-text-security') ?? 'none')
    ? 'maybe'
    : 'no'

function customOf(says: Declarations, inherited: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const own = [...says].filter(([property]) => property.startsWith('--'))
  return own.length === 0 ? inherited : new Map([...inherited, ...own].slice(-maxCustom))
}

/** Replaces custom properties by their values. Undefined if a value is missing, which makes the declaration invalid. */
function substituted(value: string, custom: ReadonlyMap<string, string>): string | undefined {
  let text = value
  for (let depth = 0; text.includes('var('); depth++) {
    if (depth > 8 || text.length > 4000) return 'unjudged()'
    const inner = /var\(\s*(--[^\s,()]+)\s*(?:,((?:[^()]|\([^()]*\))*))?\)/.exec(text)
    if (!inner) return 'unjudged()'
    const [whole, name = '', fallback] = inner
    const found = custom.get(name) ?? fallback
    if (found === undefined) return undefined
    text = text.replace(whole, () => found.trim())
  }
  return text
}

type Attributes = Readonly<Record<string, string>>

const sizeWords: Readonly<Record<string, number>> = {
  ...{ 'xx-small': 9, 'x-small': 10, small: 13, medium: 16, large: 18, 'x-large': 24, 'xx-large': 32, 'xxx-large': 48, initial: 16 },
}

function fontOf(valueOf: ValueOf, attributes: Attributes, inherited: Look['fontPx']): Pick<Look, 'fontPx'> {
  const adjust = Number(valueOf('font-size-adjust') ?? 1)
  if (adjust < 0.2) return { fontPx: 'unknown' }
  const given = valueOf('font-size') ?? sizeOfFont(valueOf('font'))
  if (given === undefined) return { fontPx: attributes['size'] === undefined ? inherited : 16 }
  if (/^(?:inherit|unset|revert|smaller|larger)$/.test(given)) return { fontPx: inherited }
  const em = inherited === 'unknown' ? 16 : inherited
  return { fontPx: sizeWords[given] ?? pixels(given, em) ?? (given.includes('(') ? 'unknown' : inherited) }
}

/** The size in the `font` shorthand, after style and weight; undefined for a system font. */
function sizeOfFont(font: string | undefined): string | undefined {
  const parts = partsOf(font ?? '').map((part) => part.split('/')[0] ?? '')
  return parts.find(
    (part) => part in sizeWords || part.includes('(') || /^[+-]?[\d.]+(?:[a-z]+|%)$/.test(part) || /^[+-]?0*\.?0+$/.test(part),
  )
}

function isSqueezed(valueOf: ValueOf, fontPx: Look['fontPx'], inherited: boolean): boolean {
  const em = fontPx === 'unknown' ? 16 : fontPx
  const line = valueOf('line-height') ?? lineOfFont(valueOf('font'))
  const letters = valueOf('letter-spacing')
  const words = valueOf('word-spacing')
  if (line === undefined && letters === undefined && words === undefined) return inherited
  const height = line === undefined ? undefined : /^[\d.]+$/.test(line) ? Number(line) * em : pixels(line, em)
  const isFlat = height !== undefined && height < 0.3 * em
  const isTight = (pixels(letters ?? '', em) ?? 0) < -0.3 * em || (pixels(words ?? '', em) ?? 0) < -em
  return isFlat || isTight || [line, letters, words].some((value) => value?.includes('('))
}

const lineOfFont = (font: string | undefined): string | undefined =>
  font === undefined ? undefined : (/\/([^\s/]+)/.exec(font)?.[1] ?? 'normal')

function inkOf({ name, attributes }: StyledElement, valueOf: ValueOf, parent: Look): Pick<Look, 'ink' | 'fill'> {
  const given = valueOf('color') ?? (name === 'font' ? attributes['color'] : undefined)
  const usual = name === 'a' && 'href' in attributes ? linkBlue : name === 'mark' ? black : parent.ink
  const ink = given === undefined ? usual : given === 'initial' ? black : (colourOf(given) ?? parent.ink)
  const filled = valueOf('-webkit-text-fill-color')
  if (filled === undefined) return { ink, fill: parent.fill }
  return { ink, fill: /^(?:currentcolor|initial)$/.test(filled) ? undefined : (colourOf(filled) ?? parent.fill) }
}

function groundOf(valueOf: ValueOf, attributes: Attributes, parent: Look, ink: Ink): Pick<Look, 'ground' | 'isPictured'> {
  const shorthand = valueOf('background') ?? ''
  const image = `${shorthand} ${valueOf('background-image') ?? ''}`
  const plain = valueOf('background-color') ?? shorthand.replaceAll(gradients, ' ')
  const [own] = [plain, attributes['bgcolor'] ?? ''].flatMap(coloursIn)
  const isClear = own === undefined || (own !== 'unknown' && own.alpha < 0.1)
  const isTextShape = /text/.test(`${valueOf('background-clip') ?? ''}${valueOf('-webkit-background-clip') ?? ''}`)
  const isPictured = isTextShape || /url\(|unjudged\(|image-set/.test(image)
  const stops = [...image.matchAll(gradients)].flatMap(([, inside = '']) => coloursIn(inside))
  // letters on a gradient are readable if they differ from at least one of its colours
  const stop = stops.find((colour) => colour !== 'unknown' && ink !== 'unknown' && !isAlike(ink, colour)) ?? stops[0]
  if (stop !== undefined && !isTextShape) return { ground: stop, isPictured }
  return { ground: isClear ? parent.ground : own, isPictured: isPictured || (isClear && parent.isPictured) }
}

const gradients = /[a-z-]*gradient\(((?:[^()]|\([^()]*\))*)\)/g
