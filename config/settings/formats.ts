/** Text forms of settings that hold more than text: addresses to listen on, allowed networks, DNS servers and the master key. */
import ipaddr from 'ipaddr.js'

/** An address to listen on. Port 0 lets the system pick a free one. */
export interface Endpoint {
  /** An IP address without brackets, or `localhost`. */
  readonly host: string
  readonly port: number
}

/** A network that outgoing connections may reach although it is loopback or private. */
export interface AllowedNetwork {
  /** In CIDR notation, such as `10.0.0.0/8` or `fd00::/8`. */
  readonly cidr: string
  /** Absent: every port. */
  readonly port?: number
}

const masterKeyBytes = 32
const hostAndPort = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/
const networkAndPort = /^(?:\[([0-9a-fA-F:.]+\/\d{1,3})\]|([0-9.]+\/\d{1,2}))(?::(\d{1,5}))?$/

/** Reads `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`; undefined for anything else. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const match = hostAndPort.exec(text)
  if (!match) return undefined
  const [, bracketed, plain, digits] = match
  const port = Number(digits)
  const host = bracketed ?? plain ?? ''
  const valid = bracketed === undefined ? host === 'localhost' || ipaddr.IPv4.isValidFourPartDecimal(host) : ipaddr.IPv6.isValid(host)
  return valid && port <= 65535 ? { host, port } : undefined
}

/** The text form that `parseEndpoint` reads. */
export const formatEndpoint = ({ host, port }: Endpoint): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

/** Reads `10.0.0.0/8`, `127.0.0.1/32:2600`, `fd00::/8` or `[fd00::/8]:587`; undefined for anything else. */
export function parseAllowedNetwork(text: string): AllowedNetwork | undefined {
  const match = networkAndPort.exec(text.includes('[') || text.includes('.') ? text : `[${text}]`)
  const written = match?.[1] ?? match?.[2]
  if (written === undefined || !ipaddr.isValidCIDR(written)) return undefined
  const [address, bits] = ipaddr.parseCIDR(written)
  const cidr = `${address.toString()}/${bits}`
  if (match?.[3] === undefined) return { cidr }
  const port = Number(match[3])
  return port >= 1 && port <= 65535 ? { cidr, port } : undefined
}

/** The text form that `parseAllowedNetwork` reads. */
export function formatAllowedNetwork({ cidr, port }: AllowedNetwork): string {
  if (port === undefined) return cidr
  return cidr.includes(':') ? `[${cidr}]:${port}` : `${cidr}:${port}`
}

/** Reads `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53` or `[2001:db8::53]:5353`, and gives back the form `Resolver.setServers` takes. */
export function parseDnsServer(text: string): string | undefined {
  if (isAddress(text)) return text.includes(':') ? `[${text}]:53` : `${text}:53`
  const endpoint = parseEndpoint(text)
  return endpoint && endpoint.port > 0 && isAddress(endpoint.host) ? formatEndpoint(endpoint) : undefined
}

/** Whether the text is one IP address, IPv4 in four decimal parts or IPv6. */
export const isAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text))

/** Reads 32 bytes written in base64, base64url or hexadecimal, white space around it aside; undefined for anything else. */
export function parseMasterKey(text: string): Uint8Array | undefined {
  const trimmed = text.trim()
  if (/^[0-9a-fA-F]{64}$/.test(trimmed)) return new Uint8Array(Buffer.from(trimmed, 'hex'))
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return undefined
  const bytes = new Uint8Array(Buffer.from(trimmed, 'base64'))
  return bytes.length === masterKeyBytes ? bytes : undefined
}

/** The text form of a master key that Postern itself writes. */
export const formatMasterKey = (key: Uint8Array): string => Buffer.from(key).toString('base64url')
