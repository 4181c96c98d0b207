/**
 * Replaces elements that sanitized HTML does not permit. Their text stays in plain elements with the same styles. Elements that browsers do
 * not render stay hidden.
 */
import { addressAttributes, addressOf, followedSchemes, linkElements, resolvedAddress } from './addressed-elements.ts'

type Attributes = Record<string, string>

export interface KeptContext {
  /** The address of the `base` element. */
  readonly base: string | undefined
  /** Reports whether style sheets refer to an element name. */
  readonly isStyled: (name: string) => boolean
  /** Returns true for elements that need no replacement: the sanitizer either permits them, or removes them with their content. */
  readonly isKept: (name: string) => boolean
}

/** Elements that browsers do not render, or render as a widget (WHATWG HTML, rendering). */
const unrendered = new Set(['rp', 'progress', 'meter', 'datalist', 'optgroup'])
/** Elements whose content browsers and mail clients render partly, on demand, differently, or not at all. */
const unsure = new Set(['object', 'applet', 'svg', 'marquee', 'noframes'])
const blocks = new Set(['form', 'fieldset', 'legend', 'menu', 'dir', 'hgroup', 'search', 'summary', 'details', 'dialog', 'marquee'])
/** Elements around the content that need no replacement. */
const frames = new Set(['html', 'head', 'body', 'meta', 'link', 'base', 'input', 'keygen', 'source', 'param', 'track', 'embed', 'frame'])
const plainName = /^[a-z][a-z0-9.:-]{0,40}$/
const own = ['data-address', 'data-tag', 'data-unsure']

/** Returns the replacement of an element. The allow list is applied to its attributes later. */
export function keptElement(
  name: string,
  given: Attributes,
  context: KeptContext,
): { readonly name: string; readonly attributes: Attributes } {
  const { popover, open, ...attributes } = given
  for (const attribute of own) delete attributes[attribute]
  if (popover !== undefined) attributes['hidden'] = ''
  if (linkElements.has(name)) return { name, attributes: linkAttributes(name, attributes, context) }
  const address = addressAttributes[name] === undefined ? undefined : followed(addressOf(name, attributes), context)
  if (context.isKept(name) && address === undefined) return { name, attributes }
  const marks: Attributes = {
    ...(plainName.test(name) && { 'data-tag': name }),
    ...(address !== undefined && { 'data-address': address }),
    ...((unrendered.has(name) || (name === 'dialog' && open === undefined)) && { hidden: '' }),
    ...((unsure.has(name) || (name === 'details' && open === undefined)) && { 'data-unsure': '1' }),
  }
  const isPlain = Object.keys(marks).every((mark) => mark === 'data-tag') && !isStyledElement(name, attributes, context)
  if (isPlain || (frames.has(name) && address === undefined)) return { name, attributes }
  return { name: blocks.has(name) ? 'div' : 'span', attributes: { ...attributes, ...marks } }
}

const isStyledElement = (name: string, attributes: Attributes, { isStyled }: KeptContext): boolean =>
  ['style', 'class', 'id', 'hidden'].some((attribute) => attributes[attribute] !== undefined) || isStyled(name)

/** SVG, and HTML from some programs, hold the address in another attribute. */
function linkAttributes(name: string, attributes: Attributes, context: KeptContext): Attributes {
  const { href: _href, rel: _rel, target: _target, ...rest } = attributes
  const address = followed(addressOf(name, attributes), context)
  return address === undefined ? rest : { ...rest, href: address, target: '_blank', rel: 'noopener noreferrer nofollow' }
}

/** Resolves an address like a browser, so that the checked address is the written one. Undefined if its scheme is not permitted. */
function followed(written: string | undefined, { base }: KeptContext): string | undefined {
  const url = resolvedAddress(written, base)
  return url && followedSchemes.includes(url.protocol) ? url.href : undefined
}
