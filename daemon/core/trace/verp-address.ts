/**
 * VERP return path of one recipient: `b<kid><id><mac>` at the bounce domain, 22 characters of lower-case Crockford base32. This format
 * survives case changes, strict servers and rewriting by forwarders (SRS). The MAC authenticates it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'

/** Five bits per character, without i, l, o and u. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** 50 bits each. An attacker can only guess online at RCPT, and a hit identifies one recipient of one message. */
const idLength = 10
const macLength = 10
const macPurpose = 'verp.v1'

const tokenForm = /^b([0-9a-hjkmnp-tv-z])([0-9a-hjkmnp-tv-z]{10})([0-9a-hjkmnp-tv-z]{10})$/
/** Forwarders rewrite a return path to SRS0=hash=day=domain=local part, or to SRS1=hash=host==… with the remaining SRS0. */
const srs0Form = /^srs0[=+-][^=]*=[^=]*=([^=]+)=([^=]+)$/
const srs1Form = /^srs1[=+-][^=]*=[^=]*=[=+-][^=]*=[^=]*=([^=]+)=([^=]+)$/

/** Returns a random id. The caller must ensure that it is unique. */
export const newVerpId = (): string => Array.from(randomBytes(idLength), (byte) => alphabet[byte & 31]).join('')

/** Returns the return path for an id. `bounceDomain` is an A-label domain. */
export function verpAddress(secrets: SecretBox, id: string, bounceDomain: string): string {
  const domain = bounceDomain.toLowerCase()
  const kid = kidOf(secrets)
  return `b${kid}${id}${macOf(secrets, kid, id, domain)}@${domain}`
}

/** Returns the id of a stored return path, without authentication. */
export const verpIdOf = (address: string): string => address.slice(2, 2 + idLength)

/** Returns true for a return path in our format with our key id, also if a forwarder has wrapped it. Not authenticated. */
export function looksLikeVerp(secrets: SecretBox, address: string): boolean {
  const [, kid] = tokenForm.exec(unwrapped(address.toLowerCase()).local) ?? []
  return kid === kidOf(secrets)
}

/** Returns the id of a return path, also if a forwarder has wrapped it; undefined if this service did not create it. */
export function openVerpAddress(secrets: SecretBox, address: string): string | undefined {
  const { local, domain } = unwrapped(address.toLowerCase())
  const [, kid = '', id = '', mac = ''] = tokenForm.exec(local) ?? []
  if (kid !== kidOf(secrets)) return undefined
  return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(secrets, kid, id, domain))) ? id : undefined
}

function unwrapped(address: string): { readonly local: string; readonly domain: string } {
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, Math.max(at, 0)), address.slice(at + 1)]
  const [, inner, innerLocal] = srs0Form.exec(local) ?? srs1Form.exec(local) ?? []
  return inner === undefined || innerLocal === undefined ? { local, domain } : { local: innerLocal, domain: inner }
}

/** Identifies the master key, so that tokens of another key are recognized. */
const kidOf = ({ keyId }: SecretBox): string => alphabet[Number.parseInt(keyId.slice(0, 2), 16) >> 3] ?? '0'

function macOf(secrets: SecretBox, kid: string, id: string, domain: string): string {
  const bits = secrets.mac(macPurpose, Buffer.from(`${kid}|${id}|${domain}`)).readBigUInt64BE() >> 14n
  return Array.from({ length: macLength }, (_, i) => alphabet[Number((bits >> BigInt(5 * (macLength - 1 - i))) & 31n)]).join('')
}
