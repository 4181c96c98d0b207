/** Origins of web pages (RFC 6454 §6.2), in the form that browsers send. */

/** Returns the normalized origin that a key can allow. Returns undefined unless it is https, or http on localhost. */
export function webOrigin(text: string): string | undefined {
  const url = /^https?:\/\/[^/\\?#@\s]+\/?$/i.test(text) ? URL.parse(text) : null
  // the URL standard accepts a star in a host name, but people mean a wildcard
  if (!url || url.hostname.includes('*')) return undefined
  return url.protocol === 'https:' || (url.protocol === 'http:' && url.hostname === 'localhost') ? url.origin : undefined
}

/**
 * Returns the `Origin` header of any page; undefined for values that browsers do not send. `null` is a file or a sandboxed frame, in which
 * site builders place pasted HTML.
 */
export const anyOrigin = (header: string): string | undefined =>
  header === 'null' || (/^https?:/.test(header) && URL.parse(header)?.origin === header) ? header : undefined
