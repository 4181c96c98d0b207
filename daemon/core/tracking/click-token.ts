/**
 * The token of a tracked link: trace id, link number and target under a MAC. It needs no stored row, so links work while the master key
 * exists. Targets come only from this service, so there is no open redirect.
 */
import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'

/** The target of a click, and its link. */
export interface Click {
  readonly traceId: string
  /** Number of the link in the message, starting at 1. */
  readonly link: number
  /** An absolute http or https URL in ASCII. */
  readonly target: string
}

const purpose = 'click.v1'
const idBytes = 16
const macBytes = 16
const headBytes = idBytes + 2

/** Returns base64url without padding, at least 46 characters plus 4/3 of the target's length. */
export function clickToken(secrets: SecretBox, { traceId, link, target }: Click): string {
  const said = Buffer.alloc(headBytes + Buffer.byteLength(target))
  said.write(traceId.replaceAll('-', ''), 'hex')
  said.writeUInt16BE(link, idBytes)
  said.write(target, headBytes)
  return Buffer.concat([macOf(secrets, said), said]).toString('base64url')
}

/** Returns the content of a token. Returns undefined unless every bit of it is from this service and the target is a web address. */
export function readClickToken(secrets: SecretBox, token: string): Click | undefined {
  const bytes = Buffer.from(token, 'base64url')
  // the decoder ignores invalid characters and padding bits
  if (bytes.length <= macBytes + headBytes || bytes.toString('base64url') !== token) return undefined
  const said = bytes.subarray(macBytes)
  if (!timingSafeEqual(bytes.subarray(0, macBytes), macOf(secrets, said))) return undefined
  const target = said.toString('utf8', headBytes)
  if (!isWebAddress(target)) return undefined
  const traceId = said.toString('hex', 0, idBytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { traceId, link: said.readUInt16BE(idBytes), target }
}

/** Whether the target is a normalized http(s) URL, which excludes control characters and anything that could break a header field. */
function isWebAddress(target: string): boolean {
  const url = URL.parse(target)
  return url !== null && /^https?:$/.test(url.protocol) && url.href === target && /^[!-~]+$/.test(target)
}

const macOf = (secrets: SecretBox, said: Uint8Array): Buffer => secrets.mac(purpose, said).subarray(0, macBytes)
