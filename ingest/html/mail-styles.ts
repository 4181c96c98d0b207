/**
 * Sanitizes the CSS of a message for a separate document. css-tree parses it. Nodes that could load content, run code or end their element
 * are removed. Layout is unrestricted, because the document is displayed in a sandboxed frame.
 */
import { createRequire } from 'node:module'
import { contentAddress, noLocations, type PartLocations } from './content-address.ts'
import { unnest } from './nested-rules.ts'
import { watchedProperties } from './visible/watched-properties.ts'
import type { Atrule, CssNode, Declaration, generate, ident, List, ListItem, parse, Url, Value, walk } from 'css-tree'

const require = createRequire(import.meta.url)

/**
 * css-tree is loaded with the first style, because most daemons need it on their threads only. The parts with property definitions are not
 * loaded.
 */
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
 * Prefix of custom properties that record removed declarations, for readers that determine whether text is visible. A removed `display`
 * becomes `--unjudged-display`.
 */
export const unjudgedPrefix = '--unjudged-'
/** Marks all elements as possibly hidden, because a rule was removed. */
export const unjudgedRule = `*{${unjudgedPrefix}display:1}`
/** Properties that run or bind code in old browsers. */
const deniedProperties = new Set(['behavior', '-moz-binding', '-ms-behavior'])
const propertyName = /^-{0,2}[a-z][a-z0-9-]{0,60}$/i
const imageProperties = /^(?:background|background-image|list-style|list-style-image|border-image|border-image-source|content)$/i

/** Functions that only calculate a value; other functions could load content. */
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

/** Returns the safe rules of a style sheet. Empty if the sheet cannot be parsed, for example because of endless nesting. */
export const safeStylesheet = (text: string, locations: PartLocations = noLocations): string =>
  cleaned(text, 'stylesheet', locations).replaceAll('</', '<\\/')

/** Returns the safe declarations of a `style` attribute. */
export const safeDeclarations = (text: string, locations: PartLocations = noLocations): string =>
  cleaned(text, 'declarationList', locations)

/**
 * Replaces every address in safe CSS, which has the form `url(…)` without delimiters inside. If `addressFor` returns undefined, the value
 * becomes `none`, with spaces around it because text may follow directly.
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
    // nested deeper than the parser supports
    if (error instanceof RangeError) return ''
    throw error
  }
}

/** Decodes escapes in names, because readers compare plain names. */
function plainNames(node: CssNode): void {
  const { ident: names } = require('css-tree/utils') as { ident: typeof ident }
  if (node.type === 'Declaration') node.property = names.decode(node.property)
  else if (node.type === 'Identifier') node.name = names.encode(names.decode(node.name))
  else if (node.type === 'Function') node.name = names.decode(node.name)
}

/**
 * Replaces a removed declaration that could have hidden text with a record of its property. Other nodes are removed without a record;
 * browsers ignore unparsable ones too.
 */
function takeOut(node: CssNode, item: ListItem<CssNode>, list: List<CssNode>): void {
  const property = node.type === 'Declaration' && node.value.type === 'Value' ? node.property.toLowerCase() : ''
  if (node.type !== 'Declaration' || !watchedProperties.has(property)) return list.remove(item) as unknown as void
  const left: Declaration = { ...node, property: `${unjudgedPrefix}${property}`, value: { type: 'Raw', value: '1' } }
  list.replace(item, list.createItem(left))
}

/** Decides about a node in a list: a rule, a declaration, or text that the parser could not read. */
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

/** Permits images only with `locations`. */
function isSafeValue(value: Value, locations: PartLocations | undefined): boolean {
  let safe = true
  css().walk(value, (node) => {
    if (node.type === 'Raw') safe = false
    else if (node.type === 'Function') safe &&= functions.has(node.name.toLowerCase())
    else if (node.type === 'Url') safe &&= locations !== undefined && takesAddress(node, locations)
  })
  return safe
}

/** Checks an image address and writes it as a browser resolves it. */
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
