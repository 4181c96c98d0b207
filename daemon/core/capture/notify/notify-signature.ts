/** How notifications of virtual inboxes are signed: `t=<seconds>,v1=<hex>`, as Stripe does. Spec "Virtual-inbox notifications". */
import { createHmac } from 'node:crypto'
import type { SecretBox } from '../../access/secret-box.ts'

/** Derived, so that nothing is stored and the key stays the same. All of the text is the key. */
export const notifySecret = (secrets: SecretBox, inboxId: string): string =>
  `whsec_${secrets.mac('inbox.notify.v1', Buffer.from(inboxId)).toString('base64url')}`

/** `atMs`: when it is sent. */
export function notifySignature(secret: string, atMs: number, body: Uint8Array): string {
  const seconds = Math.floor(atMs / 1000)
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')}`
}
