/**
 * Reduces a client address to the network that limits count: a single IPv4 address, or the /64 of an IPv6 address. Providers assign each
 * customer at least a /64.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Caches recent addresses, because the same client often opens a connection for each message. */
const known = new Map<string, string>()
const maxKnown = 1000
/** Maximum length of a cached text, to limit the memory of the cache. An address without a zone is shorter. */
const maxAddressCharacters = 64

/**
 * Returns an IPv4 address, also if it is mapped into IPv6 (RFC 4291 §2.5.5.2). For an IPv6 address, returns the first four groups. Returns
 * an empty string for any other text.
 */
export function clientNetwork(address: string): string {
  const before = known.get(address)
  if (before !== undefined) return before
  const network = networkOf(address)
  if (address.length > maxAddressCharacters) return network
  if (known.size >= maxKnown) known.clear()
  known.set(address, network)
  return network
}

function networkOf(address: string): string {
  const parsed = read(address)
  if (!parsed) return ''
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return (parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
}

/**
 * Returns the client address that a proxy reports, without port, brackets or zone. Returns an empty string if the text has no valid
 * address.
 */
export const clientAddress = (text: string): string => read(text)?.toString() ?? ''

function read(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? []
  const plain = (inBrackets ?? beforePort ?? text).replace(/%.*$/, '')
  return isIP(plain) === 0 ? undefined : ipaddr.process(plain)
}
