/** Whose address it is, as limits count: an IPv4 address alone, the /64 of an IPv6 address, because a customer gets at least that. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Of the latest addresses; a site that connects for each mail is asked for many times in a row. */
const known = new Map<string, string>()
const maxKnown = 1000
/** No longer text is an address, so that none makes the memory large. */
const maxAddressCharacters = 64

/** The IPv4 address, also mapped into IPv6 (RFC 4291 §2.5.5.2), or the first four groups of an IPv6 address; empty for anything else. */
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

/** The address in what a proxy says of its client: some add a port, brackets or a zone. Empty for what is no address. */
export const clientAddress = (text: string): string => read(text)?.toString() ?? ''

function read(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? []
  const plain = (inBrackets ?? beforePort ?? text).replace(/%.*$/, '')
  return isIP(plain) === 0 ? undefined : ipaddr.process(plain)
}
