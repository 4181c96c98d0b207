/**
 * The CSS of a message made safe for a document of its own: parsed by css-tree, then only what can neither load, run nor end
 * its element is written again. Layout is free, as the document is shown in a frame that nothing leaves.
 */
import { createRequire } from 'node:module'
import { contentAddress, noLocations, type PartLocations } from './content-address.ts'
import { unnest } from './nested-rules.ts'
import { watchedProperties } from './visible/watched-properties.ts'
import type { Atrule, CssNode, Declaration, generate, ident, List, ListItem, parse, Url, Value, walk } from 'css-tree'

const require = createRequire(import.meta.url)

/** Loaded with the first style: most daemons meet one in their threads alone, and without the parts that know properties. */
const css = (): { parse: typeof parse; walk: typeof walk; generate: typeof generate } => ({
  parse: require('css-tree/parser') as typeof parse,
  walk: require('css-tree/walker') as typeof walk,
  generate: require('css-tree/generator') as typeof generate,
})

const maxAddress = 8192
const embeddedImage = /^data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=]*$/i
const contentImage = /^cid:[^\s"'<>`()\\]{1,998}$/

const atRules = new Set(['media', 'supports', 'layer', 'container', 'scope', 'keyframes', '-webkit-keyframes'])
/**
 * Begins the names of custom properties that stand for declarations which are left out, for readers that have to know whether text
 * is seen: `--unjudged-display` for one of `display`.
 */
export const unjudgedPrefix = '--unjudged-'
/** Any element could be hidden by a rule that is left out. */
export const unjudgedRule = `*{${unjudgedPrefix}display:1}`
/** What old browsers ran, or bound code by. */
const deniedProperties = new Set(['behavior', '-moz-binding', '-ms-behavior'])
const propertyName = /^-{0,2}[a-z][a-z0-9-]{0,60}$/i
const imageProperties = /^(?:background|background-image|list-style|list-style-image|border-image|border-image-source|content)$/i

/** Functions that calculate a value; every other one could load something. */
const functions = new Set([
  ...[
    'rgb',
    'rgba',
    'hsl',
    'hsla',
    'hwb',
    'lab',
    'lch',
    'oklab',
    'oklch',
    'color',
    'color-mix',
    'light-dark',
    'calc',
    'min',
    'max',
    'clamp',
  ],
  ...['var', 'env', 'linear-gradient', 'radial-gradient', 'conic-gradient', 'repeating-linear-gradient', 'repeating-radial-gradient'],
  ...['-webkit-linear-gradient', '-moz-linear-gradient', '-webkit-gradient', 'from', 'to', 'color-stop', 'counter', 'counters', 'attr'],
  ...['translate', 'translatex', 'translatey', 'translate3d', 'scale', 'scalex', 'scaley', 'rotate', 'skew', 'skewx', 'skewy', 'matrix'],
  ...['scale3d', 'scalez', 'translatez', 'rotatex', 'rotatey', 'rotatez', 'rotate3d', 'matrix3d', 'perspective', 'path', 'xywh', 'ray'],
  ...['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'round', 'mod', 'rem', 'abs', 'sign', 'pow', 'sqrt', 'hypot', 'log', 'exp'],
  ...['cubic-bezier', 'steps', 'minmax', 'repeat', 'fit-content', 'blur', 'brightness', 'contrast', 'drop-shadow', 'grayscale', 'opacity'],
  ...['saturate', 'sepia', 'invert', 'hue-rotate', 'inset', 'circle', 'ellipse', 'polygon', 'rect'],
])

/** Returns the rules of a style sheet that are safe; empty for one that cannot be read, such as one nested without end. */
export const safeStylesheet = (text: string, locations: PartLocations = noLocations): string =>
  cleaned(text, 'stylesheet', locations).replaceAll('</', '<\\/')

/** Returns the declarations of a `style` attribute that are safe. */
export const safeDeclarations = (text: string, locations: PartLocations = noLocations): string =>
  cleaned(text, 'declarationList', locations)

/**
 * Every address in safe CSS stands as `url(…)` with nothing in it that could end it. Returns the CSS with others in their
 * place; `undefined` is no image, apart from what may follow without a blank.
 */
export const withAddresses = (safe: string, addressFor: (address: string) => string | undefined): string =>
  safe.replaceAll(/url\(((?:https?|cid|data):[^()"'\\\s]*)\)/g, (_, address: string) => {
    const other = addressFor(address)
    return other === undefined ? ' none ' : `url(${other})`
  })

function cleaned(text: string, context: 'stylesheet' | 'declarationList', locations: PartLocations): string {
  const { parse: read, walk: visit, generate: write } = css()
  try {
    const tree = read(text, { context, parseCustomProperty: true })
    if (text.includes('\\')) visit(tree, plainNames)
    const isWhole = tree.type !== 'StyleSheet' || unnest(tree.children)
    visit(tree, (node, item, list) => {
      if (list && !isSafe(node, locations)) takeOut(node, item, list)
    })
    return `${write(tree)}${isWhole ? '' : unjudgedRule}`
  } catch (error) {
    // nested deeper than the parser can follow
    if (error instanceof RangeError) return ''
    throw error
  }
}

/** Names without escapes, as readers compare them. */
function plainNames(node: CssNode): void {
  const { ident: names } = require('css-tree/utils') as { ident: typeof ident }
  if (node.type === 'Declaration') node.property = names.decode(node.property)
  else if (node.type === 'Identifier') node.name = names.encode(names.decode(node.name))
  else if (node.type === 'Function') node.name = names.decode(node.name)
}

/** A declaration that could have hidden text leaves its name. What cannot be parsed means nothing to browsers either. */
function takeOut(node: CssNode, item: ListItem<CssNode>, list: List<CssNode>): void {
  const property = node.type === 'Declaration' && node.value.type === 'Value' ? node.property.toLowerCase() : ''
  if (node.type !== 'Declaration' || !watchedProperties.has(property)) return list.remove(item) as unknown as void
  const left: Declaration = { ...node, property: `${unjudgedPrefix}${property}`, value: { type: 'Raw', value: '1' } }
  list.replace(item, list.createItem(left))
}

/** Of whatever stands in a list: rules, declarations, and what the parser could not read. */
function isSafe(node: CssNode, locations: PartLocations): boolean {
  switch (node.type) {
    case 'Atrule':
      return isSafeBlock(node)
    case 'Rule':
      return node.prelude.type === 'SelectorList'
    case 'Declaration':
      return isSafeDeclaration(node, locations)
    case 'Raw':
    case 'Comment':
    case 'CDO':
    case 'CDC':
      return false
    default:
      return true
  }
}

function isSafeBlock({ name, prelude, block }: Atrule): boolean {
  const kind = name.toLowerCase()
  if (!atRules.has(kind) || (block === null && kind !== 'layer')) return false
  return prelude === null ? kind === 'layer' : prelude.type === 'AtrulePrelude' && !names(prelude, 'Url')
}

const names = (tree: CssNode, type: CssNode['type']): boolean => {
  let found = false
  css().walk(tree, (node) => void (found ||= node.type === type))
  return found
}

function isSafeDeclaration({ property, value }: Declaration, locations: PartLocations): boolean {
  if (property.startsWith(unjudgedPrefix)) return value.type === 'Raw'
  if (!propertyName.test(property) || deniedProperties.has(property.toLowerCase()) || value.type !== 'Value') return false
  return isSafeValue(value, imageProperties.test(property) ? locations : undefined)
}

/** Images are safe with `locations` only. */
function isSafeValue(value: Value, locations: PartLocations | undefined): boolean {
  let safe = true
  css().walk(value, (node) => {
    if (node.type === 'Raw') safe = false
    else if (node.type === 'Function') safe &&= functions.has(node.name.toLowerCase())
    else if (node.type === 'Url') safe &&= locations !== undefined && takesAddress(node, locations)
  })
  return safe
}

/** Writes the address as a browser would read it. */
function takesAddress(node: Url, locations: PartLocations): boolean {
  const text = node.value.trim()
  const packed = text.replaceAll(/\s+/g, '')
  const part = contentAddress(text, locations)
  if (embeddedImage.test(packed) || (part !== undefined && contentImage.test(part))) {
    node.value = part ?? packed.replace(/^data:/i, 'data:')
    return true
  }
  const url = text.length <= maxAddress ? URL.parse(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) return false
  node.value = url.href.replaceAll(/[()'"\\\s]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  return true
}
