/** Parses the host of a request (RFC 9110 §7.2), normalized for comparison. */

/** Returns the host in lower case, without port and final dot; empty without a host. */
export function hostName(header: string | undefined): string {
  if (header === undefined || header.length > 300) return ''
  const host = header.toLowerCase().replace(/:\d{1,5}$/, '')
  return host.endsWith('.') ? host.slice(0, -1) : host
}

/** Returns whether the host is an address instead of a name. Such a request comes from a proxy itself, or from a scanner. */
export const isAddress = (host: string): boolean => host === 'localhost' || /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/.test(host)

/** The host of a request, and its path with query. */
export interface RequestTarget {
  readonly host: string
  readonly target: string
}

/**
 * Returns the host and path. A host in the target overrides the `Host` field (RFC 9112 §3.2.2). Returns undefined for two `Host` fields,
 * since a proxy may have used the other one (§3.2).
 */
export function requestTarget(url: string, rawHeaders: readonly string[]): RequestTarget | undefined {
  let host: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) return undefined
    host = rawHeaders[i + 1] ?? ''
  }
  if (url.startsWith('/')) return { host: hostName(host), target: url }
  const [, own, path = ''] = /^https?:\/\/([^/?#@]*)([/?].*)?$/i.exec(url) ?? []
  if (own === undefined) return { host: hostName(host), target: url }
  return { host: hostName(own), target: path.startsWith('/') ? path : `/${path}` }
}
