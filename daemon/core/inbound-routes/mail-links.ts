/**
 * Links to inbound mail and its attachments, for webhook receivers without an API key. A link contains its target and expiry under a MAC,
 * so it needs no stored row.
 */
import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'

/** The target of a link: the raw mail, or the index of an attachment, starting at 0. */
export type LinkedPart = 'raw' | number

export interface LinkTarget {
  readonly organizationId: string
  readonly messageId: string
  readonly part: LinkedPart
  /** Expiry in milliseconds since the epoch, in whole seconds. */
  readonly expiresAt: number
}

const purpose = 'inbound-link.v1'
const macBytes = 16
const form = /^(org_[\w]{1,60}) (inm_[\w]{1,60}) (raw|\d{1,4}) (\d{1,12})$/

export function linkToken(secrets: SecretBox, { organizationId, messageId, part, expiresAt }: LinkTarget): string {
  const said = Buffer.from(`${organizationId} ${messageId} ${part} ${Math.floor(expiresAt / 1000)}`)
  return Buffer.concat([macOf(secrets, said), said]).toString('base64url')
}

/** Returns the content of a token, even if expired. Returns undefined unless every bit of the token is from this service. */
export function readLinkToken(secrets: SecretBox, token: string): LinkTarget | undefined {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length <= macBytes || bytes.toString('base64url') !== token) return undefined
  const said = bytes.subarray(macBytes)
  if (!timingSafeEqual(bytes.subarray(0, macBytes), macOf(secrets, said))) return undefined
  const [, organizationId = '', messageId = '', part = '', seconds] = form.exec(said.toString('latin1')) ?? []
  if (organizationId === '') return undefined
  return { organizationId, messageId, part: part === 'raw' ? part : Number(part), expiresAt: Number(seconds) * 1000 }
}

const macOf = (secrets: SecretBox, said: Uint8Array): Buffer => secrets.mac(purpose, said).subarray(0, macBytes)
