/**
 * What becomes of elements that the HTML of mail may not keep: their text stays in plain elements that keep their styles, and those which
 * browsers do not render stay hidden.
 */
import { addressAttributes, addressOf, followedSchemes, linkElements, resolvedAddress } from './addressed-elements.ts'

type Attributes = Record<string, string>

export interface KeptContext {
  /** The address of the `base` element. */
  readonly base: string | undefined
  /** Whether style sheets name an element. */
  readonly isStyled: (name: string) => boolean
  /** Whether the sanitizer knows what to do with an element. */
  readonly isKept: (name: string) => boolean
}

/** Elements that browsers do not render, or only their own drawing of them (WHATWG HTML, rendering). */
const unrendered = new Set(['rp', 'progress', 'meter', 'datalist', 'optgroup'])
/** Elements whose content browsers and mail programs show in part, on demand, in their own way, or not at all. */
const unsure = new Set(['object', 'applet', 'svg', 'marquee', 'noframes'])
const blocks = new Set(['form', 'fieldset', 'legend', 'menu', 'dir', 'hgroup', 'search', 'summary', 'details', 'dialog', 'marquee'])
/** Elements around the content, whose place others take. */
const frames = new Set(['html', 'head', 'body', 'meta', 'link', 'base', 'input', 'keygen', 'source', 'param', 'track', 'embed', 'frame'])
const plainName = /^[a-z][a-z0-9.:-]{0,40}$/
const own = ['data-address', 'data-tag', 'data-unsure']

/** The element that stands for one of the message, with its attributes before they pass the allow list. */
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

/** In SVG, and in mail that was made by programs, the address may stand in another attribute. */
function linkAttributes(name: string, attributes: Attributes, context: KeptContext): Attributes {
  const { href: _href, rel: _rel, target: _target, ...rest } = attributes
  const address = followed(addressOf(name, attributes), context)
  return address === undefined ? rest : { ...rest, href: address, target: '_blank', rel: 'noopener noreferrer nofollow' }
}

/** The address as a browser would read it, so that what was checked is what is written; undefined if it is not allowed. */
function followed(written: string | undefined, { base }: KeptContext): string | undefined {
  const url = resolvedAddress(written, base)
  return url && followedSchemes.includes(url.protocol) ? url.href : undefined
}
