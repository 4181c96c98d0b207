/** Whose address it is, as limits count: an IPv4 address alone, the /64 of an IPv6 address, because a customer gets at least that. */

/** The IPv4 address, also when it came mapped into IPv6 (RFC 4291 §2.5.5.2), or the first four groups of an IPv6 address. */
export function clientNetwork(address: string): string {
  const plain = address.replace(/^::ffff:/, '')
  if (!plain.includes(':')) return plain
  const [left = '', right] = plain.split('::')
  const groups = left.split(':').filter(Boolean)
  const missing = right === undefined ? 0 : 8 - groups.length - right.split(':').filter(Boolean).length
  return [...groups, ...Array<string>(missing).fill('0')].slice(0, 4).join(':')
}
