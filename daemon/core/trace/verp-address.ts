/**
 * The return path of one recipient (VERP): `b<kid><id><mac>` at the bounce domain, 22 characters of Crockford's base32 in lower
 * case, which survive folded case, picky servers and the rewriting of forwarders (SRS). Only this service can make one.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'

/** Five bits a character; i, l, o and u are left out. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** 50 bits each. Guesses are made one at a time at RCPT, and a right one names one recipient of one message. */
const idLength = 10
const macLength = 10
const macPurpose = 'verp.v1'

const tokenForm = /^b([0-9a-hjkmnp-tv-z])([0-9a-hjkmnp-tv-z]{10})([0-9a-hjkmnp-tv-z]{10})$/
/** What forwarders make of a return path: SRS0=hash=day=domain=local part, and SRS1=hash=host==… around the rest of an SRS0. */
const srs0Form = /^srs0[=+-][^=]*=[^=]*=([^=]+)=([^=]+)$/
const srs1Form = /^srs1[=+-][^=]*=[^=]*=[=+-][^=]*=[^=]*=([^=]+)=([^=]+)$/

/** An id that nothing else has, but for chance; whoever keeps it must see to that. */
export const newVerpId = (): string => Array.from(randomBytes(idLength), (byte) => alphabet[byte & 31]).join('')

/** The return path for an id. `bounceDomain` is an A-label domain. */
export function verpAddress(secrets: SecretBox, id: string, bounceDomain: string): string {
  const domain = bounceDomain.toLowerCase()
  const kid = kidOf(secrets)
  return `b${kid}${id}${macOf(secrets, kid, id, domain)}@${domain}`
}

/** The id of a return path that this service has kept, which needs no proof. */
export const verpIdOf = (address: string): string => address.slice(2, 2 + idLength)

/** It has the form of a return path made under our key, also one that a forwarder wrapped, whoever made it. */
export function looksLikeVerp(secrets: SecretBox, address: string): boolean {
  const [, kid] = tokenForm.exec(unwrapped(address.toLowerCase()).local) ?? []
  return kid === kidOf(secrets)
}

/** The id of a return path, also one that a forwarder wrapped; undefined when this service did not make it. */
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

/** Names the master key, so that a token made under another one is recognized at once. */
const kidOf = ({ keyId }: SecretBox): string => alphabet[Number.parseInt(keyId.slice(0, 2), 16) >> 3] ?? '0'

function macOf(secrets: SecretBox, kid: string, id: string, domain: string): string {
  const bits = secrets.mac(macPurpose, Buffer.from(`${kid}|${id}|${domain}`)).readBigUInt64BE() >> 14n
  return Array.from({ length: macLength }, (_, i) => alphabet[Number((bits >> BigInt(5 * (macLength - 1 - i))) & 31n)]).join('')
}
