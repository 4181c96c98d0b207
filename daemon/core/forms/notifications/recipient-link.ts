/**
 * The link by which a recipient confirms or ends notifications: the form, the recipient, and 16 octets of an HMAC of both. It is the
 * same in every mail, and stands for nothing once the recipient is taken off the list.
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

/** Undefined for what this service did not make. */
export function readRecipientToken(secrets: Secrets, token: string): NamedRecipient | undefined {
  const [, publicId, recipientId, text = ''] = /^([A-Za-z0-9]{22})\.(\w{1,64})\.([\w-]{22})$/.exec(token) ?? []
  if (publicId === undefined || recipientId === undefined) return undefined
  const given = Buffer.from(text, 'base64url')
  const named = { publicId, recipientId }
  return given.length === macBytes && timingSafeEqual(given, macOf(secrets, named)) ? named : undefined
}
