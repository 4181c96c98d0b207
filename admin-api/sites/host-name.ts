/** The host that a request is for (RFC 9110 §7.2), as names are compared. */

/** In lower case, without port and final dot; empty for none. */
export function hostName(header: string | undefined): string {
  if (header === undefined || header.length > 300) return ''
  const host = header.toLowerCase().replace(/:\d{1,5}$/, '')
  return host.endsWith('.') ? host.slice(0, -1) : host
}

/** An address, and no name: such a request comes from a proxy on its own behalf, or from whoever looks around. */
export const isAddress = (host: string): boolean => host === 'localhost' || /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/.test(host)
