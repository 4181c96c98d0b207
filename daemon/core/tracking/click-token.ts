/**
 * The token of a tracked link: trace id, number of the link and where it leads, under a MAC. It needs no row, so the link works
 * for as long as the master key; and it leads only where this service decided, so the redirect is never an open one.
 */
import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'

/** Where a click goes, and where it came from. */
export interface Click {
  readonly traceId: string
  /** Place of the link in the message, from 1. */
  readonly link: number
  /** An absolute http or https URL in ASCII. */
  readonly target: string
}

const purpose = 'click.v1'
const idBytes = 16
const macBytes = 16
const headBytes = idBytes + 2

/** Base64url without padding: 46 characters and a third more than the target. */
export function clickToken(secrets: SecretBox, { traceId, link, target }: Click): string {
  const said = Buffer.alloc(headBytes + Buffer.byteLength(target))
  said.write(traceId.replaceAll('-', ''), 'hex')
  said.writeUInt16BE(link, idBytes)
  said.write(target, headBytes)
  return Buffer.concat([macOf(secrets, said), said]).toString('base64url')
}

/** What a token says; undefined when this service did not make it, down to its last bit, or it leads to no web address. */
export function readClickToken(secrets: SecretBox, token: string): Click | undefined {
  const bytes = Buffer.from(token, 'base64url')
  // decoding skips what is no base64url, and bits that fill up the last character
  if (bytes.length <= macBytes + headBytes || bytes.toString('base64url') !== token) return undefined
  const said = bytes.subarray(macBytes)
  if (!timingSafeEqual(bytes.subarray(0, macBytes), macOf(secrets, said))) return undefined
  const target = said.toString('utf8', headBytes)
  if (!isWebAddress(target)) return undefined
  const traceId = said.toString('hex', 0, idBytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { traceId, link: said.readUInt16BE(idBytes), target }
}

/** Written as a browser writes it, which leaves out control characters and whatever else could break a header field. */
function isWebAddress(target: string): boolean {
  const url = URL.parse(target)
  return url !== null && /^https?:$/.test(url.protocol) && url.href === target && /^[!-~]+$/.test(target)
}

const macOf = (secrets: SecretBox, said: Uint8Array): Buffer => secrets.mac(purpose, said).subarray(0, macBytes)
