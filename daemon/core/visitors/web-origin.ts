/** Origins of web pages (RFC 6454 §6.2), as browsers write them. */

/** The origin that a text stands for, as a key may allow it; undefined unless it is one of https, or of http on this very machine. */
export function webOrigin(text: string): string | undefined {
  const url = /^https?:\/\/[^/\\?#@\s]+\/?$/i.test(text) ? URL.parse(text) : null
  // a star is a letter of a host name to the URL standard, and a wildcard to people
  if (!url || url.hostname.includes('*')) return undefined
  return url.protocol === 'https:' || (url.protocol === 'http:' && url.hostname === 'localhost') ? url.origin : undefined
}

/**
 * The header `Origin` of any page at all; undefined for what no browser writes. `null` is a file, or a sandboxed frame, in which
 * site builders put what is pasted.
 */
export const anyOrigin = (header: string): string | undefined =>
  header === 'null' || (/^https?:/.test(header) && URL.parse(header)?.origin === header) ? header : undefined
