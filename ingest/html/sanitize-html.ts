/**
 * Makes the HTML of a message safe to show: an allow list of tags, attributes, inline styles and addresses of links.
 * It is one of three layers; the page that shows the result adds a sandbox and a content security policy.
 * There are two results: one for a document of its own, with classes, layout and all, and one that any page may hold.
 */
import { createRequire } from 'node:module'
import type sanitize from 'sanitize-html'
import { contentAddress, noLocations, type PartLocations } from './content-address.ts'
import { safeStyle } from './inline-styles.ts'
import { safeDeclarations } from './mail-styles.ts'

const require = createRequire(import.meta.url)
const maxCharacters = 1_000_000
const maxTags = 50_000
/** Browsers nest no deeper than some hundred; what is never closed, as list items may be, counts too. */
const maxOpen = 5000
const maxAddress = 8192
const embeddedImage = /^data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]*$/i

/** Elements that go together with everything inside them: their content is code, a fallback, or another language. */
const droppedWhole = [
  ...['script', 'style', 'textarea', 'option', 'xmp', 'noscript', 'title', 'template', 'svg', 'math', 'noembed', 'noframes'],
  ...['plaintext', 'iframe', 'frameset', 'select', 'audio', 'video', 'canvas'],
]

const allowedTags = [
  ...['a', 'abbr', 'address', 'article', 'aside', 'b', 'bdi', 'bdo', 'big', 'blockquote', 'br', 'caption', 'center', 'cite', 'code'],
  ...['col', 'colgroup', 'dd', 'del', 'dfn', 'div', 'dl', 'dt', 'em', 'figcaption', 'figure', 'font', 'footer', 'h1', 'h2', 'h3', 'h4'],
  ...['h5', 'h6', 'header', 'hr', 'i', 'img', 'ins', 'kbd', 'li', 'main', 'mark', 'nav', 'ol', 'p', 'pre', 'q', 's', 'samp', 'section'],
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
    col: ['span', 'width'],
    colgroup: ['span', 'width'],
    font: ['color', 'face', 'size'],
    hr: ['size', 'width'],
    img: ['alt', 'border', 'data-remote-src', 'height', 'hspace', 'src', 'vspace', 'width'],
    li: ['type', 'value'],
    ol: ['reversed', 'start', 'type'],
    table: ['bgcolor', 'border', 'cellpadding', 'cellspacing', 'height', 'width', { name: 'role', values: ['presentation', 'none'] }],
    td: cell,
    th: cell,
    time: ['datetime'],
    tr: ['bgcolor', 'height', 'valign'],
    ul: ['type'],
  },
  // Styles are already safe when they come here, see `styleAttribute`; the package's parser costs far more than they are worth.
  parseStyleAttributes: false,
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['cid', 'data'] },
  allowProtocolRelative: false,
  transformTags: {
    a: (tagName, attribs) => ({ tagName, attribs: linkAttributes(attribs) }),
  },
}

/**
 * Returns HTML for a document of its own, in a frame. Links keep only http, https and mailto and open in a new place without a
 * referrer. Images of the same message get `cid:`; small raster formats in `data:` stay; the address of a remote image moves to
 * `data-remote-src`, so nothing loads without consent. Reads only the first 1,000,000 characters and 50,000 tags, and no more behind
 * 5,000 unclosed ones.
 */
export function documentHtml(html: string, locations: PartLocations = noLocations): string {
  // loaded with the first HTML: most daemons meet it in their threads alone
  const clean = require('sanitize-html') as typeof sanitize
  const styles = new Map<string, string>()
  const styled = (attribs: sanitize.Attributes): sanitize.Attributes => styleAttribute(attribs, styles)
  const transformTags = {
    ...options.transformTags,
    img: (tagName: string, attribs: sanitize.Attributes) => ({ tagName, attribs: imageAttributes(attribs, locations) }),
    '*': (tagName: string, attribs: sanitize.Attributes) => ({ tagName, attribs: styled(attribs) }),
  }
  // for the package, an attribute without a value is left out unless it is boolean, as this one is
  const nonBooleanAttributes = clean.defaults.nonBooleanAttributes.filter((name) => name !== 'hidden')
  return clean(readablePart(html), { ...options, transformTags, nonBooleanAttributes }).toWellFormed()
}

/** Returns `documentHtml` as any page may hold it: without names that styles of that page could match, or layout that leaves its place. */
export const embeddableHtml = (document: string): string =>
  document.replaceAll(/<[a-z][^<>]* (?:class|id|style)="[^<>]*>/g, (tag) =>
    tag.replaceAll(/ (?:class|id)="[^"]*"/g, '').replace(/ style="([^"]*)"/, (_, style: string) => {
      const safe = safeStyle(unescaped(style))
      return safe === '' ? '' : ` style="${escaped(safe)}"`
    }),
  )

/** Both in one. */
export const sanitizeHtml = (html: string): string => embeddableHtml(documentHtml(html))

/** As much of it as is read, without octets that end texts elsewhere. */
export const readablePart = (html: string): string => html.slice(0, readableLength(html)).replaceAll('\0', '')

/** Characters of the source after that part. */
export const charactersLeftOut = (html: string): number => html.length - readableLength(html)

/** Cost grows with the square of nesting; so length, tags, and elements that are open at a time have a bound. */
function readableLength(html: string): number {
  const openByName = new Map<string, number>()
  let open = 0
  let at = -1
  for (let tags = 0; tags <= maxTags && open <= maxOpen; tags++) {
    at = html.indexOf('<', at + 1)
    if (at < 0 || at >= maxCharacters) return Math.min(html.length, maxCharacters)
    tag.lastIndex = at + 1
    const [found, slash = '', name = ''] = tag.exec(html) ?? []
    if (found === undefined || voidElements.has(name.toLowerCase())) continue
    const ofName = openByName.get(name.toLowerCase()) ?? 0
    const step = slash === '' ? 1 : ofName > 0 ? -1 : 0 // a closing tag without an opening one closes nothing
    openByName.set(name.toLowerCase(), ofName + step)
    open += step
  }
  return at
}

const tag = /(\/?)([a-z][^\s/>]{0,30})/iy
/** They hold nothing and close by themselves (WHATWG HTML, void elements). */
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

/** Styles repeat in mail, row by row; each is read once. The old attribute for an image behind the content becomes a style. */
function styleAttribute(attribs: sanitize.Attributes, known: Map<string, string>): sanitize.Attributes {
  const { style = '', background, ...rest } = attribs
  const text = background === undefined ? style : `background-image:url("${background.replaceAll(/["\\\n\r\f]/g, '')}");${style}`
  if (text === '') return rest
  const safe = known.get(text) ?? safeDeclarations(text)
  known.set(text, safe)
  return safe === '' ? rest : { ...rest, style: safe }
}

function linkAttributes(attribs: sanitize.Attributes): sanitize.Attributes {
  const { href, rel: _rel, target: _target, ...rest } = attribs
  const address = parsedAddress(href, ['http:', 'https:', 'mailto:'])
  return address === undefined ? rest : { ...rest, href: address, target: '_blank', rel: 'noopener noreferrer nofollow' }
}

function imageAttributes(attribs: sanitize.Attributes, locations: PartLocations): sanitize.Attributes {
  const { src = '', 'data-remote-src': _remote, ...rest } = attribs
  const trimmed = src.trim()
  if (embeddedImage.test(trimmed)) return { ...rest, src: trimmed }
  const part = contentAddress(trimmed, locations)
  if (part !== undefined) return { ...rest, src: part }
  const remote = parsedAddress(trimmed, ['http:', 'https:'])
  return remote === undefined ? rest : { ...rest, 'data-remote-src': remote }
}

/** The address as a browser would read it, so that what was checked is what is written; undefined when it is not allowed. */
function parsedAddress(text: string | undefined, schemes: readonly string[]): string | undefined {
  const url = text === undefined || text.length > maxAddress ? null : URL.parse(text)
  return url && schemes.includes(url.protocol) ? url.href : undefined
}
