/** A send whose request contains the whole message in MIME, as in the APIs of other services. */
import * as z from 'zod'
import type { WholeOrder } from '#core/submission/doors/send-messages.ts'
import { mailbox, mailboxes } from '../fields/mailbox.ts'
import type { Decoded } from '../fields/codec.ts'
import { sendTime } from './scheduled-send.ts'
import { metadata, tags } from './send.ts'

const maxAddresses = 1000
const isMime = (given: unknown): boolean => Buffer.isBuffer(given) || (typeof given === 'object' && given !== null && 'base64' in given)

/** `to` is the envelope. Without it, the recipients come from the header. */
export const wholeInput = z.strictObject({
  mime: z.custom<WholeOrder['mime']>(isMime),
  from: mailbox.optional(),
  to: mailboxes(maxAddresses)
    .refine((list) => list.length > 0, 'must not be empty')
    .optional(),
  ...{ send_at: sendTime.optional(), tags: tags.optional(), metadata: metadata.optional() },
  ...{ click_tracking_enabled: z.boolean().optional(), open_tracking_enabled: z.boolean().optional() },
})

export const toWholeOrder = (given: Decoded<typeof wholeInput>): WholeOrder => ({
  mime: given.mime,
  from: given.from,
  recipients: given.to,
  ...{ projectId: undefined, destinationId: undefined, idempotencyKey: undefined },
  sendAt: given.sendAt,
  tracking: { clicks: given.clickTrackingEnabled ?? false, opens: given.openTrackingEnabled ?? false },
  ...{ tags: given.tags, metadata: given.metadata },
})
