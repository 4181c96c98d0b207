/** Text forms of settings: addresses to listen on, networks, servers, keys, names, mail addresses and paths. */
import { isAbsolute } from 'node:path'
import ipaddr from 'ipaddr.js'
import { foldAddress, parseAddress as parseMailAddress, parseMailbox } from '../mail/addresses.ts'
import type { TextForm } from './fields.ts'

/** An address to listen on. With port 0, the system selects a free port. */
export interface Endpoint {
  /** An IP address without brackets, or `localhost`. */
  readonly host: string
  readonly port: number
}

/** A network that outgoing connections may reach although it is loopback or private. */
export interface AllowedNetwork {
  /** In CIDR notation, such as `10.0.0.0/8` or `fd00::/8`. */
  readonly cidr: string
  /** Undefined for all ports. */
  readonly port?: number
}

const masterKeyBytes = 32
const hostAndPort = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/
const networkAndPort = /^(?:\[([0-9a-fA-F:.]+(?:\/\d{1,3})?)\]|([0-9.]+(?:\/\d{1,2})?))(?::(\d{1,5}))?$/

/** Reads `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`. Returns undefined for other texts. */
function parseEndpoint(text: string): Endpoint | undefined {
  const match = hostAndPort.exec(text)
  if (!match) return undefined
  const [, bracketed, plain, digits] = match
  const port = Number(digits)
  const host = bracketed ?? plain ?? ''
  const valid = bracketed === undefined ? host === 'localhost' || ipaddr.IPv4.isValidFourPartDecimal(host) : ipaddr.IPv6.isValid(host)
  return valid && port <= 65535 ? { host, port } : undefined
}

/** Returns the text form that `parseEndpoint` reads. */
export const formatEndpoint = ({ host, port }: Endpoint): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

/** Reads `10.0.0.0/8`, `127.0.0.1:2600`, `fd00::/8` or `[fd00::/8]:587`. Returns undefined for other texts. */
function parseAllowedNetwork(text: string): AllowedNetwork | undefined {
  const match = networkAndPort.exec(text.includes('[') || text.includes('.') ? text : `[${text}]`)
  const given = match?.[1] ?? match?.[2]
  if (given === undefined) return undefined
  const written = isAddress(given) ? `${given}/${given.includes(':') ? 128 : 32}` : given
  if (!ipaddr.isValidCIDR(written)) return undefined
  const [address, bits] = ipaddr.parseCIDR(written)
  const cidr = `${address.toString()}/${bits}`
  if (match?.[3] === undefined) return { cidr }
  const port = Number(match[3])
  return port >= 1 && port <= 65535 ? { cidr, port } : undefined
}

/** Returns the text form that `parseAllowedNetwork` reads. */
function formatAllowedNetwork({ cidr, port }: AllowedNetwork): string {
  if (port === undefined) return cidr
  return cidr.includes(':') ? `[${cidr}]:${port}` : `${cidr}:${port}`
}

/** Reads `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53` or `[2001:db8::53]:5353`. Returns the form for `Resolver.setServers`. */
function parseDnsServer(text: string): string | undefined {
  if (isAddress(text)) return text.includes(':') ? `[${text}]:53` : `${text}:53`
  const endpoint = parseEndpoint(text)
  return endpoint && endpoint.port > 0 && isAddress(endpoint.host) ? formatEndpoint(endpoint) : undefined
}

/** Returns whether the text is an IP address: IPv4 with four decimal parts, or IPv6. */
const isAddress = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text))

/** A service of the operator: the path of its socket, or its host and port. */
export type ServiceAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** Reads `/run/clamav/clamd.ctl`, `clamav:3310`, `127.0.0.1:3310` or `[::1]:3310`. Returns undefined for other texts. */
function parseService(text: string): ServiceAddress | undefined {
  if (text.startsWith('/')) return text.includes('\0') || text.length > 107 ? undefined : { path: text }
  return parseNamedEndpoint(text)
}

/** Reads a name or an address with a port above 0. An IPv6 address is in brackets. */
function parseNamedEndpoint(text: string): Endpoint | undefined {
  const [, bracketed, plain = '', digits] = hostAndPort.exec(text) ?? []
  const port = Number(digits)
  if (!(port >= 1 && port <= 65_535)) return undefined
  const host = bracketed === undefined ? parseHostName(plain) : ipaddr.IPv6.isValid(bracketed) ? bracketed : undefined
  return host === undefined ? undefined : { host, port }
}

const formatService = (service: ServiceAddress): string => ('path' in service ? service.path : formatEndpoint(service))

/** Reads 32 bytes in base64, base64url or hexadecimal, and ignores white space at both ends. Returns undefined for other texts. */
export function parseMasterKey(text: string): Uint8Array | undefined {
  const trimmed = text.trim()
  if (/^[0-9a-fA-F]{64}$/.test(trimmed)) return new Uint8Array(Buffer.from(trimmed, 'hex'))
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return undefined
  const bytes = new Uint8Array(Buffer.from(trimmed, 'base64'))
  return bytes.length === masterKeyBytes ? bytes : undefined
}

/** Returns the text form of a master key that Postern writes. */
const formatMasterKey = (key: Uint8Array): string => Buffer.from(key).toString('base64url')

function parseHostName(text: string): string | undefined {
  const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
  const name = text.toLowerCase()
  return name.length <= 253 && name.split('.').every((part) => label.test(part)) ? name : undefined
}

function parseOrigin(text: string): string | undefined {
  const url = parseAddress(text)
  return url?.pathname === '/' ? url.origin : undefined
}

/** Removes a slash at the end, because clients compare the address character by character. */
function parseMcpAddress(text: string): string | undefined {
  const url = parseAddress(text)
  const path = url?.pathname.replace(/\/$/, '') ?? ''
  return url && path !== '/v1' && /^(?:\/[\w.~-]+)*$/.test(path) ? url.origin + path : undefined
}

/** http or https, without user name, query and fragment. */
function parseAddress(text: string): URL | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined
  return url.search || url.hash ? undefined : url
}

function accepting(valid: (text: string) => boolean): TextForm<string> {
  return { parse: (text) => (valid(text) ? text : undefined), format: (text) => text }
}

export const endpoint = { parse: parseEndpoint, format: formatEndpoint }
export const service = { parse: parseService, format: formatService }
export const network = { parse: parseAllowedNetwork, format: formatAllowedNetwork }
export const masterKey = { parse: parseMasterKey, format: formatMasterKey }
export const sharedSecret = accepting((text) => /^[\u0021-\u007e]{32,256}$/.test(text))
export const path = accepting((text) => text.length > 0 && !text.includes('\0'))
/** For paths that commands share, because each command has a different working folder. */
export const absolutePath = accepting((text) => isAbsolute(text) && !text.includes('\0'))
export const databaseAddress = accepting((text) => /^postgres(?:ql)?:\/\/[^/?#]*\/[^/?#]+(?:\?[^#]*)?$/.test(text))
export const objectsAddress = accepting((text) => /^(?:s3:\/\/[^/?#]+(?:\/[\w./-]*)?(?:\?[^#]*)?|file:\/\/\/[^?#]+)$/.test(text))
export const operatorKey = accepting((text) => /^svcop_[A-Za-z0-9_-]{43,128}$/.test(text))
export const adminKey = accepting((text) => /^svckey_[A-Za-z0-9_-]{43,128}$/.test(text))
export const sendKey = accepting((text) => /^[\x21-\x7e]{8,512}$/.test(text))
export const address = accepting(isAddress)
/** Up to three ids of destinations, separated by commas. */
export const destinations: TextForm<readonly string[]> = {
  parse: (text) => {
    const ids = text.split(',').map((id) => id.trim())
    const isList = ids.length <= 3 && new Set(ids).size === ids.length && ids.every((id) => /^dst_[0-9a-f]{32}$/.test(id))
    return isList ? ids : undefined
  },
  format: (ids) => ids.join(','),
}
export const mailbox = accepting((text) => parseMailbox(text) !== undefined)
/** In lower case, as in accounts of people. */
export const emailAddress: TextForm<string> = {
  parse: (text) => {
    const mailbox = parseMailAddress(text)
    return mailbox && foldAddress(mailbox.address)
  },
  format: (text) => text,
}
export const userName = accepting((text) => /^[a-zA-Z_][a-zA-Z0-9_.-]{0,31}$/.test(text))
export const keyId = accepting((text) => /^[\x21-\x7e]{1,512}$/.test(text))
export const hmacKey = accepting((text) => /^[A-Za-z0-9+/_-]{16,1024}={0,2}$/.test(text))
/** An https address with any path and query. */
export const secureAddress: TextForm<string> = {
  parse: (text) => {
    const url = URL.parse(text)
    return url?.protocol === 'https:' && !url.username && !url.password && !url.hash ? url.href : undefined
  },
  format: (text) => text,
}
export const hostName: TextForm<string> = { parse: parseHostName, format: (text) => text }
export const origin: TextForm<string> = { parse: parseOrigin, format: (text) => text }
export const mcpAddress: TextForm<string> = { parse: parseMcpAddress, format: (text) => text }
export const spfMechanism = accepting((text) =>
  /^(?:(?:include|a|mx):[a-z0-9._-]+(?:\/\d{1,3})?|mx|ip4:[\d.]+(?:\/\d{1,2})?|ip6:[\da-f:.]+(?:\/\d{1,3})?)$/i.test(text),
)
export const dnsList = accepting((text) => /^(?:ip|domain)\/(?:major|minor)\/(?:[a-z0-9_-]{1,63}\.){1,10}[a-z0-9-]{2,63}$/.test(text))
export const dnsServer: TextForm<string> = { parse: parseDnsServer, format: (text) => text }
/** A time server: a name or address, with its port or the port of NTP (RFC 5905 §7.2). */
export const timeServer: TextForm<Endpoint> = {
  parse: (text) => parseNamedEndpoint(isAddress(text) && text.includes(':') ? `[${text}]:123` : /:\d+$/.test(text) ? text : `${text}:123`),
  format: formatEndpoint,
}
export const verifyUrl: TextForm<string> = { parse: (text) => parseAddress(text)?.href, format: (text) => text }
const parseWebPage = (text: string): string | undefined => {
  const url = text.length > 2048 ? null : URL.parse(text)
  return url?.protocol === 'https:' && url.username === '' ? url.href : undefined
}
/** Receiver of webhooks: http or https, without a fragment; a query is allowed. */
const parseWebhookAddress = (text: string): string | undefined => {
  const url = text.length > 2048 ? null : URL.parse(text)
  return url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.hash === '' ? url.href : undefined
}
export const webhookAddress: TextForm<string> = { parse: parseWebhookAddress, format: (text) => text }
export const webhookSecret = accepting((text) => {
  const [, key] = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/.exec(text) ?? []
  const bytes = Buffer.from(key ?? '', 'base64')
  return key !== undefined && bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === key
})
export const webPage: TextForm<string> = { parse: parseWebPage, format: (text) => text }
export const webPageOrMail: TextForm<string> = {
  parse: (text) => (/^[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,10}[a-z]{2,63}$/i.test(text) ? text : parseWebPage(text)),
  format: (text) => text,
}

const maxAddressLines = 8

/** Lines of an address, separated by semicolons. */
export const addressLines: TextForm<readonly string[]> = {
  parse(text) {
    const lines = text
      .split(';')
      .map((line) => line.trim())
      .filter((line) => line !== '')
    return lines.length > 0 && lines.length <= maxAddressLines ? lines : undefined
  },
  format: (lines) => lines.join('; '),
}
