/**
 * Signs a delivery with two schemes and one secret. Spec "Events" 3: HMAC-SHA-256 over the body; the key is the whole secret as text.
 * Standard Webhooks: over id, time and body; the key is the decoded part after `whsec_`. The signed time prevents replays of old requests.
 */
import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const secretBytes = 32

export const newWebhookSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

export interface Signed {
  /** UUID, equal for every attempt. */
  readonly deliveryId: string
  /** Start of this attempt, in milliseconds since the epoch. */
  readonly at: number
  readonly body: Uint8Array
}

/** Returns the time in seconds and the Standard Webhooks signature. */
export function standardSignature(
  secret: string,
  { deliveryId, at, body }: Signed,
): { readonly timestamp: string; readonly signature: string } {
  const timestamp = String(Math.floor(at / 1000))
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  const standard = createHmac('sha256', key).update(`${deliveryId}.${timestamp}.`).update(body).digest('base64')
  return { timestamp, signature: `v1,${standard}` }
}

export function signatureHeaders(secret: string, signed: Signed): Readonly<Record<string, string>> {
  const { timestamp, signature } = standardSignature(secret, signed)
  return {
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(signed.body).digest('hex')}`,
    'x-service-delivery': signed.deliveryId,
    'webhook-id': signed.deliveryId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  }
}
