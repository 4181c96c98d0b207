/** Origins of web pages (RFC 6454 §6.2), as browsers write them. */

/** The origin that a text stands for; undefined unless it is one of https, or of http on this very machine. */
export function pageOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  // a star is a letter of a host name to the URL standard, and a wildcard to people
  if (!url || url.hostname.includes('*') || url.origin !== text.toLowerCase().replace(/\/$/, '')) return undefined
  return url.protocol === 'https:' || (url.protocol === 'http:' && url.hostname === 'localhost') ? url.origin : undefined
}
