/** The elements with addresses that readers can follow, and the resolution of those addresses. All HTML readers use this list. */

/** Attributes that hold the address, by element and in order of precedence (WHATWG HTML; SVG 2 for `xlink:href`). */
export const addressAttributes: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'xlink:href'],
  area: ['href'],
  form: ['action'],
  button: ['formaction'],
  input: ['formaction'],
}

/** The elements that are links. The other elements submit form data. */
export const linkElements: ReadonlySet<string> = new Set(['a', 'area'])

/** Permitted schemes of links. */
export const followedSchemes: readonly string[] = ['http:', 'https:', 'mailto:', 'tel:', 'sms:']

/** The address as written, or undefined for an element without an address. */
export function addressOf(name: string, attributes: Readonly<Record<string, string>>): string | undefined {
  for (const attribute of addressAttributes[name] ?? []) if (attributes[attribute] !== undefined) return attributes[attribute]
  return undefined
}

const maxAddress = 8192
const nowhere = 'https://invalid.invalid/'

/**
 * Resolves an address like a browser. `base` is the address in the document's `base` element. Undefined for a relative address without
 * `base`, an invalid address, and an address of more than 8,192 characters.
 */
export function resolvedAddress(written: string | undefined, base?: string): URL | undefined {
  if (written === undefined || written.length > maxAddress) return undefined
  const url = URL.parse(written, base ?? nowhere) ?? undefined
  return base === undefined && url?.hostname === 'invalid.invalid' ? undefined : url
}

/** The address of the first `base` element with an `href`; undefined unless it is http or https. */
export function baseOf(href: string | undefined): string | undefined {
  const url = resolvedAddress(href)
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined
}

const baseTag = /<base\b[^>]{0,8192}/i
const baseHref = /[\s/"']href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i

/** Finds the base address in an HTML document. */
export const baseIn = (html: string): string | undefined => {
  const tag = baseTag.exec(html)?.[0] ?? ''
  const [, double, single, plain] = baseHref.exec(tag) ?? []
  return baseOf((double ?? single ?? plain)?.replaceAll('&amp;', '&'))
}
