/** The elements whose addresses readers can follow, and how an address is resolved: one list for all readers of HTML. */

/** Attributes with the address by element, in order (WHATWG HTML; SVG 2 for `xlink:href`). */
export const addressAttributes: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'xlink:href'],
  area: ['href'],
  form: ['action'],
  button: ['formaction'],
  input: ['formaction'],
}

/** The elements of the list that are links; the others send what a reader typed. */
export const linkElements: ReadonlySet<string> = new Set(['a', 'area'])

/** What links may lead to. */
export const followedSchemes: readonly string[] = ['http:', 'https:', 'mailto:', 'tel:', 'sms:']

/** The address as it is written; undefined for elements without one. */
export function addressOf(name: string, attributes: Readonly<Record<string, string>>): string | undefined {
  for (const attribute of addressAttributes[name] ?? []) if (attributes[attribute] !== undefined) return attributes[attribute]
  return undefined
}

const maxAddress = 8192
const nowhere = 'https://invalid.invalid/'

/**
 * The address as a browser would read it. `base` is the address in the `base` element of the document. Undefined for a relative
 * address without one, for an unreadable address and for one of more than 8,192 characters.
 */
export function resolvedAddress(written: string | undefined, base?: string): URL | undefined {
  if (written === undefined || written.length > maxAddress) return undefined
  const url = URL.parse(written, base ?? nowhere) ?? undefined
  return base === undefined && url?.hostname === 'invalid.invalid' ? undefined : url
}

/** The address of the first `base` element that has one; undefined unless it is http or https. */
export function baseOf(href: string | undefined): string | undefined {
  const url = resolvedAddress(href)
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined
}

const baseTag = /<base\b[^>]{0,8192}/i
const baseHref = /[\s/"']href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i

/** The same out of a document. */
export const baseIn = (html: string): string | undefined => {
  const tag = baseTag.exec(html)?.[0] ?? ''
  const [, double, single, plain] = baseHref.exec(tag) ?? []
  return baseOf((double ?? single ?? plain)?.replaceAll('&amp;', '&'))
}
