/**
 * The link that confirms or ends notifications: form, recipient, and 16 octets of an HMAC over both. Every mail has the same link. It
 * becomes invalid when the recipient is removed.
 */
import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../../access/secret-box.ts'

export interface NamedRecipient {
  readonly publicId: string
  readonly recipientId: string
}

type Secrets = Pick<SecretBox, 'mac'>

const macBytes = 16
const macOf = (secrets: Secrets, { publicId, recipientId }: NamedRecipient): Buffer =>
  secrets.mac('form.recipient.v1', Buffer.from(`${publicId}.${recipientId}`)).subarray(0, macBytes)

export const recipientPath = (secrets: Secrets, named: NamedRecipient): string =>
  `/form-notifications/${named.publicId}.${named.recipientId}.${macOf(secrets, named).toString('base64url')}`

/** Returns undefined for a token that this service did not create. */
export function readRecipientToken(secrets: Secrets, token: string): NamedRecipient | undefined {
  const [, publicId, recipientId, text = ''] = /^([A-Za-z0-9]{22})\.(\w{1,64})\.([\w-]{22})$/.exec(token) ?? []
  if (publicId === undefined || recipientId === undefined) return undefined
  const given = Buffer.from(text, 'base64url')
  const named = { publicId, recipientId }
  return given.length === macBytes && timingSafeEqual(given, macOf(secrets, named)) ? named : undefined
}
