/** IP addresses as DNS names and in a comparable form. */
import ipaddr from 'ipaddr.js'

/** The canonical spelling of an address; IPv4-mapped IPv6 becomes IPv4. Undefined if the text is not an IP address. */
export function plainAddress(text: string): string | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : undefined
}

/** Ranges whose addresses are not globally unique (RFC 6890). */
const local: ReadonlySet<string> = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat', 'unspecified'])

/** Reports whether an address can occur in the public DNS. */
export const isPublic = (address: string): boolean => ipaddr.isValid(address) && !local.has(ipaddr.process(address).range())

/** Reverses an address for reverse DNS and DNS lists: four numbers, or 32 nibbles (RFC 5782 §2.1, §2.4). */
export function reversed(address: string): string {
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toByteArray().toReversed().join('.')
  return nibbles(address).toReversed().join('.')
}

/** The name of the PTR records of an address. */
export const pointerName = (address: string): string =>
  `${reversed(address)}.${ipaddr.process(address).kind() === 'ipv4' ? 'in-addr' : 'ip6'}.arpa`

export const familyOf = (address: string): 4 | 6 => (ipaddr.process(address).kind() === 'ipv4' ? 4 : 6)

const nibbles = (address: string): string[] =>
  ipaddr
    .process(address)
    .toByteArray()
    .flatMap((byte) => [...byte.toString(16).padStart(2, '0')])

/** Reports whether a host name is derived from the address, or contains a word for dynamically assigned addresses. */
export function isGeneric(host: string, address: string): boolean {
  if (/(?:^|[.\-_\d])(?:dyn(?:amic)?|dhcp|pool|[avsx]?dsl|static-?ip)(?=[.\-_\d]|$)/i.test(host)) return true
  const bytes = ipaddr.process(address).toByteArray()
  if (bytes.length === 4) {
    const parts = bytes.map(String)
    const padded = parts.map((part) => part.padStart(3, '0'))
    const forms = [parts, padded]
      .flatMap((form) => [form, form.toReversed()])
      .flatMap((form) => [form.join('-'), form.join('.'), form.join('_')])
    const packed = [padded.join(''), bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')]
    const within = (text: string): boolean =>
      new RegExp(String.raw`(?<![0-9a-f])${text.replaceAll('.', String.raw`\.`)}(?![0-9a-f])`, 'i').test(host)
    return forms.some(within) || packed.some((text) => host.toLowerCase().includes(text))
  }
  const plain = host.toLowerCase()
  const written = [ipaddr.process(address).toString(), ipaddr.process(address).toNormalizedString()]
  if (written.some((text) => plain.includes(text.replaceAll(':', '-')))) return true
  const letters = plain.replaceAll(/[^0-9a-f]/g, '')
  return letters.includes(nibbles(address).join('')) || letters.includes(nibbles(address).toReversed().join(''))
}
