/** Redirect URIs: which URIs a client can register, and whether a presented URI matches a registered URI (RFC 9700 §4.1.3, RFC 8252 §7). */

const maxLength = 2048
/** An http URI of the loopback interface, in parts: host, port, and everything after the port. */
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?((?:[/?][^#\\]*)?)$/
const printable = /^[\x21-\x7e]+$/
/** Schemes that browsers handle themselves, or that contain their content. All other schemes belong to applications (RFC 8252 §7.1). */
const ownedByBrowsers =
  /^(?:https?|wss?|ftp|file|filesystem|data|blob|javascript|vbscript|about|chrome|resource|view-source|mailto|tel|sms|intent|urn)$/
const applicationUri = /^([a-z][a-z0-9+.-]*):\/{1,2}[^#\\]*$/

/**
 * Returns whether the URIs are equal. On the loopback interface the port may differ, because applications listen on any free port (RFC 8252
 * §7.3). Compares text without parsing, so that two parsers cannot disagree.
 */
export function matchesRedirectUri(registered: string, presented: string): boolean {
  if (registered === presented) return true
  const [, host, , rest] = loopback.exec(registered) ?? []
  const [, presentedHost, port = '', presentedRest] = loopback.exec(presented) ?? []
  return host !== undefined && host === presentedHost && rest === presentedRest && Number(port) <= 65_535 && printable.test(presented)
}

/**
 * Allows https, http on the loopback interface, and schemes of applications. Refuses fragments (RFC 6749 §3.1.2), user names and wildcards.
 */
export function mayRegisterRedirectUri(uri: string): boolean {
  if (uri.length > maxLength || !printable.test(uri) || uri.includes('#') || uri.includes('\\') || uri.includes('*')) return false
  const url = URL.parse(uri)
  if (!url || url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:') return /^https:\/\/[^/]/.test(uri)
  if (isLoopbackRedirect(uri)) return true
  const scheme = applicationUri.exec(uri)?.[1]
  return scheme !== undefined && !ownedByBrowsers.test(scheme)
}

/** Whether the response goes to a program on the user's machine, where any other program can impersonate the client. */
export const isLoopbackRedirect = (uri: string): boolean => loopback.test(uri)

/** Returns the part that people see: the host, or the scheme of an application. */
export function redirectHost(uri: string): string {
  const url = new URL(uri)
  return /^https?:$/.test(url.protocol) ? url.host : url.protocol
}

/** Appends response parameters to the URI (RFC 6749 §4.1.2) and changes nothing else. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(given).toString()}`
}
