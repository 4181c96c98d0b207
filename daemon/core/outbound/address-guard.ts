/**
 * Addresses that this service may connect to: the public internet, and ranges that the operator has allowed. Checks literals; the caller
 * must connect to the checked literal.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { invalid } from '../refusals.ts'

/** A permitted non-public range, on one port or on all. */
export interface AllowedRange {
  /** RFC 4632 §3.1 notation, IPv4 or IPv6; or a single address. */
  readonly cidr: string
  readonly port?: number | undefined
}

/** Returns true if a connection to this address literal and port is permitted. */
export type AddressGuard = (address: string, port: number) => boolean

type Address = ReturnType<typeof ipaddr.parse>

// Global unicast space assigned by IANA (RFC 4291 §2.4); the rest is unassigned.
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Returns true for unicast addresses of the public internet. False for addresses that embed another address (IPv4-mapped, IPv4-compatible,
 * NAT64, 6to4, Teredo), and for anything but a plain literal.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseLiteral(address)
  return parsed !== undefined && isPublic(parsed)
}

/** Returns true for `127.0.0.0/8` and `::1`. */
export function isLoopbackAddress(address: string): boolean {
  return parseLiteral(address)?.range() === 'loopback'
}

const nearRanges: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'])

/** Returns true for addresses of this machine and of private networks, also in the forms of sockets: mapped into IPv6, or with a zone. */
export function isNearAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  return isIP(plain) !== 0 && nearRanges.has(ipaddr.process(plain).range())
}

/** Returns a guard that permits public addresses and the given ranges. Throws a refusal for an invalid range. */
export function addressGuard(allowed: readonly AllowedRange[]): AddressGuard {
  const ranges = allowed.map((entry) => ({ block: parseRange(entry.cidr), port: entry.port }))
  return (address, port) => {
    const parsed = parseLiteral(address)
    if (parsed === undefined) return false
    return isPublic(parsed) || ranges.some((range) => (range.port === undefined || range.port === port) && covers(range.block, parsed))
  }
}

/** Lists of permitted ranges in the configuration. */
type RangeList = 'destinations' | 'webhooks'

/** Returns the setting that permits a host and port. For a host name, the operator replaces `ADDRESS`. */
export function permission(list: RangeList, host: string, port: number): string {
  const address = isIP(host) === 0 ? 'ADDRESS' : host.includes(':') ? `[${host}]` : host
  return `POSTERN_OUTBOUND_ALLOW=${list}=${address}:${port}`
}

/** Refusal text for a host without a permitted address. */
export const notPermitted = (list: RangeList, host: string, port: number): string =>
  `resolves to a loopback or private address that this service does not allow; to use it, start Postern with ${permission(list, host, port)}`

const webPorts: ReadonlySet<number> = new Set([80, 443, 8080, 8443])

/** Restricts a guard to web server ports on the public internet, for untrusted addresses. */
export const webPortsOnly =
  (guard: AddressGuard): AddressGuard =>
  (address, port) =>
    guard(address, port) && (webPorts.has(port) || !isPublicAddress(address))

function isPublic(parsed: Address): boolean {
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || covers(globalUnicast, parsed))
}

function covers(block: readonly [Address, number], parsed: Address): boolean {
  return block[0].kind() === parsed.kind() && parsed.match(block[0], block[1])
}

/** Accepts only the usual notation: no octal or short IPv4 forms, and no zone index, which belongs to link-local addresses. */
function parseLiteral(address: string): Address | undefined {
  return isIP(address) === 0 || address.includes('%') ? undefined : ipaddr.parse(address)
}

function parseRange(cidr: string): readonly [Address, number] {
  const [address = '', prefix, ...rest] = cidr.split('/')
  const parsed = parseLiteral(address)
  if (parsed === undefined || rest.length > 0) throw unreadable(cidr)
  const longest = parsed.kind() === 'ipv4' ? 32 : 128
  if (prefix === undefined) return [parsed, longest]
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > longest) throw unreadable(cidr)
  return [parsed, Number(prefix)]
}

function unreadable(cidr: string): Error {
  return invalid([{ path: 'outbound_allow', message: `"${cidr}" is not an address range; write it like 10.0.0.0/8.` }])
}
