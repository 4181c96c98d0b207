/** The host that a request is for (RFC 9110 §7.2), as names are compared. */

/** In lower case, without port and final dot; empty for none. */
export function hostName(header: string | undefined): string {
  if (header === undefined || header.length > 300) return ''
  const host = header.toLowerCase().replace(/:\d{1,5}$/, '')
  return host.endsWith('.') ? host.slice(0, -1) : host
}

/** An address, and no name: such a request comes from a proxy on its own behalf, or from whoever looks around. */
export const isAddress = (host: string): boolean => host === 'localhost' || /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/.test(host)

/** A request by its host, and its path with its query. */
export interface RequestTarget {
  readonly host: string
  readonly target: string
}

/**
 * Of a target with an address of its own, that counts and not the field (RFC 9112 §3.2.2). Undefined for two fields, of which a proxy may
 * have read the other one (§3.2).
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
