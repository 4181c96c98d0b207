/** A webhook gets the event itself, signed like event webhooks. */
import { signatureHeaders } from '../../webhooks/sending/signature.ts'
import type { WriteAlert } from './kind.ts'

export interface WebhookTarget {
  readonly url: string
  readonly secret: string
}

export const webhook: WriteAlert<WebhookTarget> = ({ body, deliveryId, at }, { url, secret }) => ({
  ...{ url, body, headers: signatureHeaders(secret, { deliveryId, at, body: Buffer.from(body) }) },
})
