/** Redirect URIs: which may be registered, and when one that is presented is a registered one (RFC 9700 §4.1.3, RFC 8252 §7). */

const maxLength = 2048
/** An http URI of this machine, in parts: host, port, and everything after it. */
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?((?:[/?][^#\\]*)?)$/
const printable = /^[\x21-\x7e]+$/
/** Schemes that a browser opens itself, or that carry their content; everything else belongs to an application (RFC 8252 §7.1). */
const ownedByBrowsers =
  /^(?:https?|wss?|ftp|file|filesystem|data|blob|javascript|vbscript|about|chrome|resource|view-source|mailto|tel|sms|intent|urn)$/
const applicationUri = /^([a-z][a-z0-9+.-]*):\/{1,2}[^#\\]*$/

/**
 * The same text; on the loopback interface with any port, as applications listen on whichever is free (RFC 8252 §7.3). The
 * text is compared and never read as an address, so that no two readings of it can differ.
 */
export function matchesRedirectUri(registered: string, presented: string): boolean {
  if (registered === presented) return true
  const [, host, , rest] = loopback.exec(registered) ?? []
  const [, presentedHost, port = '', presentedRest] = loopback.exec(presented) ?? []
  return host !== undefined && host === presentedHost && rest === presentedRest && Number(port) <= 65_535 && printable.test(presented)
}

/** https, http on the loopback interface, or a scheme of an application; without a fragment (RFC 6749 §3.1.2), user name or wildcard. */
export function mayRegisterRedirectUri(uri: string): boolean {
  if (uri.length > maxLength || !printable.test(uri) || uri.includes('#') || uri.includes('\\') || uri.includes('*')) return false
  const url = URL.parse(uri)
  if (!url || url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:') return /^https:\/\/[^/]/.test(uri)
  if (isLoopbackRedirect(uri)) return true
  const scheme = applicationUri.exec(uri)?.[1]
  return scheme !== undefined && !ownedByBrowsers.test(scheme)
}

/** Whether the answer goes to a program on the machine of the person, which any program there can pretend to be. */
export const isLoopbackRedirect = (uri: string): boolean => loopback.test(uri)

/** What people are shown of it: its host, or the scheme of an application. */
export function redirectHost(uri: string): string {
  const url = new URL(uri)
  return /^https?:$/.test(url.protocol) ? url.host : url.protocol
}

/** The URI with the parameters of an answer behind its own (RFC 6749 §4.1.2); nothing else of it changes. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(given).toString()}`
}
