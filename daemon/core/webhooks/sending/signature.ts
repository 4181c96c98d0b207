/**
 * How a delivery is signed, in two ways with one secret. Spec "Events" 3: HMAC-SHA-256 over the body, keyed by the whole secret as text.
 * Standard Webhooks: over id, time and body, keyed by the bytes behind `whsec_`; as the time is signed, old requests cannot be replayed.
 */
import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const secretBytes = 32

export const newWebhookSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

export interface Signed {
  /** UUID; the same at every attempt. */
  readonly deliveryId: string
  /** When this attempt begins, in milliseconds since 1970. */
  readonly at: number
  readonly body: Uint8Array
}

export function signatureHeaders(secret: string, { deliveryId, at, body }: Signed): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(at / 1000))
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  const standard = createHmac('sha256', key).update(`${deliveryId}.${seconds}.`).update(body).digest('base64')
  return {
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    'x-service-delivery': deliveryId,
    'webhook-id': deliveryId,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${standard}`,
  }
}
