/**
 * Sanitizes the HTML of a message with an allow list of tags, attributes, inline styles and link addresses. It is one of three layers; the
 * displaying page adds a sandbox and a content security policy. It has two results: a separate document with classes and layout, and HTML
 * that any page may embed.
 */
import { createRequire } from 'node:module'
import type sanitize from 'sanitize-html'
import { baseIn, followedSchemes, resolvedAddress } from './addressed-elements.ts'
import { boundedLength } from './bounded-html.ts'
import { contentAddress, noLocations, type PartLocations } from './content-address.ts'
import { keptElement } from './kept-elements.ts'
import { safeStyle } from './inline-styles.ts'
import { safeDeclarations } from './mail-styles.ts'

const require = createRequire(import.meta.url)
const maxCharacters = 1_000_000
const maxTags = 50_000
/** Browsers limit nesting to some hundred elements. Elements that are never closed, such as list items, count too. */
const maxOpen = 5000
const embeddedImage = /^data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]*$/i

/** Elements removed with their content, which is code, a fallback, or another language. */
const droppedWhole = [
  ...['script', 'style', 'textarea', 'option', 'xmp', 'noscript', 'title', 'template', 'math', 'noembed', 'noframes'],
  ...['plaintext', 'iframe', 'frameset', 'select', 'audio', 'video', 'canvas', 'defs', 'desc', 'metadata', 'symbol'],
]

const allowedTags = [
  ...[
    'a',
    'abbr',
    'address',
    'area',
    'article',
    'aside',
    'b',
    'bdi',
    'bdo',
    'big',
    'blockquote',
    'br',
    'caption',
    'center',
    'cite',
    'code',
  ],
  ...['col', 'colgroup', 'dd', 'del', 'dfn', 'div', 'dl', 'dt', 'em', 'figcaption', 'figure', 'font', 'footer', 'h1', 'h2', 'h3', 'h4'],
  ...[
    'h5',
    'h6',
    'header',
    'hr',
    'i',
    'img',
    'ins',
    'kbd',
    'li',
    'main',
    'map',
    'mark',
    'nav',
    'ol',
    'p',
    'pre',
    'q',
    's',
    'samp',
    'section',
  ],
  ...['small', 'span', 'strike', 'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'time', 'tr', 'tt', 'u', 'ul'],
  ...['var', 'wbr'],
]

const cell = ['align', 'bgcolor', 'colspan', 'height', 'nowrap', 'rowspan', 'scope', 'valign', 'width']

const options: sanitize.IOptions = {
  allowedTags,
  disallowedTagsMode: 'discard',
  nonTextTags: droppedWhole,
  allowedAttributes: {
    '*': ['align', 'class', 'dir', 'hidden', 'id', 'lang', 'style', 'title'],
    a: ['href', 'rel', 'target'],
    area: ['alt', 'coords', 'href', 'rel', 'shape', 'target'],
    col: ['span', 'width'],
    colgroup: ['span', 'width'],
    div: ['data-address', 'data-tag', 'data-unsure'],
    font: ['color', 'face', 'size'],
    hr: ['size', 'width'],
    img: ['alt', 'border', 'data-remote-src', 'height', 'hspace', 'src', 'usemap', 'vspace', 'width'],
    li: ['type', 'value'],
    map: ['name'],
    ol: ['reversed', 'start', 'type'],
    span: ['data-address', 'data-tag', 'data-unsure'],
    table: ['bgcolor', 'border', 'cellpadding', 'cellspacing', 'height', 'width', { name: 'role', values: ['presentation', 'none'] }],
    td: cell,
    th: cell,
    time: ['datetime'],
    tr: ['bgcolor', 'height', 'valign'],
    ul: ['type'],
  },
  // `styleAttribute` has sanitized the styles; the package's style parser is slow.
  parseStyleAttributes: false,
  allowedSchemes: followedSchemes.map((scheme) => scheme.slice(0, -1)),
  allowedSchemesByTag: { img: ['cid', 'data'] },
  allowProtocolRelative: false,
}

/**
 * Returns HTML for a separate document in a frame.
 * - Links: http, https, mailto, tel and sms are permitted, resolved against `base`, and open a new page without a referrer. The address of
 *   a form moves to `data-address`.
 * - Images of the same message get `cid:`; small raster formats in `data:` stay. The address of a remote image moves to `data-remote-src`,
 *   so that nothing loads without consent.
 * - Elements that browsers do not render are hidden. An element that another program may render differently gets `data-unsure`.
 *
 * `isStyled` reports whether style sheets refer to an element name. Reads the first 1,000,000 characters without `data:` content, and
 * 50,000 tags; stops at 5,000 unclosed tags.
 */
export function documentHtml(html: string, locations: PartLocations = noLocations, isStyled = (_name: string): boolean => false): string {
  // loaded with the first HTML, because most daemons need it on their threads only
  const clean = require('sanitize-html') as typeof sanitize
  const read = readablePart(html)
  const base = baseIn(read)
  const styles = new Map<string, string>()
  const transformTags: sanitize.IOptions['transformTags'] = {
    img: (tagName, attribs) => ({ tagName, attribs: imageAttributes(attribs, locations, base) }),
    '*': (tagName, attribs) => {
      const { name, attributes } = keptElement(tagName, attribs, { base, isStyled, isKept })
      return { tagName: name, attribs: styleAttribute(attributes, styles, locations) }
    },
  }
  // the package removes an attribute without a value unless it is listed as boolean
  const nonBooleanAttributes = clean.defaults.nonBooleanAttributes.filter((name) => name !== 'hidden')
  return clean(read, { ...options, transformTags, nonBooleanAttributes }).toWellFormed()
}

const keptTags = new Set([...allowedTags, ...droppedWhole])
const isKept = (name: string): boolean => keptTags.has(name)

/**
 * Converts the result of `documentHtml` for embedding in any page: removes names that the page's styles could match, and layout that moves
 * elements.
 */
export const embeddableHtml = (document: string): string =>
  document.replaceAll(/<[a-z][^<>]* (?:class|id|style|name|usemap|data-(?:tag|unsure))="[^<>]*>/g, (tag) =>
    tag
      .replaceAll(/ (?:class|id|data-tag|data-unsure)="[^"]*"/g, '')
      .replaceAll(/ (name="|usemap="#)(?!mail-)/g, ' $1mail-')
      .replace(/ style="([^"]*)"/, (_, style: string) => {
        const safe = safeStyle(unescaped(style))
        return safe === '' ? '' : ` style="${escaped(safe)}"`
      }),
  )

/** Returns embeddable HTML from the HTML of a message. */
export const sanitizeHtml = (html: string): string => embeddableHtml(documentHtml(html))

/** The prefix of the source that is processed, without null characters, which end strings in other programs. */
export const readablePart = (html: string): string => html.slice(0, readableLength(html)).replaceAll('\0', '')

/** Number of characters after that prefix. */
export const charactersLeftOut = (html: string): number => html.length - readableLength(html)

/** The cost grows quadratically with nesting, so length, tags and open elements are limited. */
function readableLength(html: string): number {
  const end = boundedLength(html, maxCharacters)
  const openByName = new Map<string, number>()
  let open = 0
  let at = -1
  for (let tags = 0; tags <= maxTags && open <= maxOpen; tags++) {
    at = html.indexOf('<', at + 1)
    if (at < 0 || at >= end) return end
    tag.lastIndex = at + 1
    const [found, slash = '', name = ''] = tag.exec(html) ?? []
    if (found === undefined || voidElements.has(name.toLowerCase())) continue
    const ofName = openByName.get(name.toLowerCase()) ?? 0
    const step = slash === '' ? 1 : ofName > 0 ? -1 : 0 // a closing tag without an opening tag closes nothing
    openByName.set(name.toLowerCase(), ofName + step)
    open += step
  }
  return at
}

const tag = /(\/?)([a-z][^\s/>]{0,30})/iy
/** Elements without content or closing tag (WHATWG HTML, void elements). */
const voidElements = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'param',
  'source',
  'track',
  'wbr',
])

const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }
const unescaped = (text: string): string => text.replaceAll(/&(amp|lt|gt|quot);/g, (whole, name: string) => names[name] ?? whole)
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/**
 * Sanitizes a style attribute. Results are cached, because mail repeats styles in each row. The obsolete `background` attribute becomes a
 * style.
 */
function styleAttribute(attribs: sanitize.Attributes, known: Map<string, string>, locations: PartLocations): sanitize.Attributes {
  const { style = '', background, ...rest } = attribs
  const text = background === undefined ? style : `background-image:url("${background.replaceAll(/["\\\n\r\f]/g, '')}");${style}`
  if (text === '') return rest
  const safe = known.get(text) ?? safeDeclarations(text, locations)
  known.set(text, safe)
  return safe === '' ? rest : { ...rest, style: safe }
}

function imageAttributes(attribs: sanitize.Attributes, locations: PartLocations, base: string | undefined): sanitize.Attributes {
  const { src = '', 'data-remote-src': _remote, usemap = '', ...others } = attribs
  const rest = /^#[\w.-]{1,100}$/.test(usemap) ? { ...others, usemap } : others
  const trimmed = src.trim()
  if (embeddedImage.test(trimmed)) return { ...rest, src: trimmed }
  const part = contentAddress(trimmed, locations)
  if (part !== undefined) return { ...rest, src: part }
  const remote = resolvedAddress(trimmed, base)
  return remote && /^https?:$/.test(remote.protocol) ? { ...rest, 'data-remote-src': remote.href } : rest
}
