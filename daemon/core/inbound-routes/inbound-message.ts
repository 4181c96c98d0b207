/** A mail that came in by a route. The octets are content of the store; what they say is read afterwards. */
import { defineRecord, globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'
import type { Authentication } from './authentication.ts'

const text = z.string()

const schema = z.strictObject({
  id: text,
  routeId: text,
  /** The project of the route when the mail came, which stays when the route moves. */
  projectId: text,
  /** Reverse-path; empty when it is null. */
  mailFrom: text,
  /** The recipients that the route took, as the other server wrote them. */
  recipients: z.array(text),
  remoteAddress: text,
  helo: text,
  isEncrypted: z.boolean(),
  receivedAt: z.int(),
  /** Return-Path, loop mark and Received, with line ends: they stand before the content. */
  prefix: text,
  content: z.strictObject({ id: text, size: z.int(), sha256: text, rows: z.int() }),
  /** Null until it is prepared for the webhook, right after it came. */
  prepared: z
    .strictObject({
      subject: text,
      from: z.array(text),
      unreadable: text.nullable(),
      authentication: z.strictObject({
        spf: z.strictObject({ result: text, domain: text.nullable() }),
        dkim: z.array(z.strictObject({ result: text, domain: text.nullable(), selector: text.nullable() })),
        dmarc: z.strictObject({ result: text, domain: text.nullable(), policy: text.nullable() }),
        arc: z.strictObject({ result: text }),
      }),
      deliveryId: text,
    })
    .nullable(),
})

export type InboundMessage = Immutable<z.infer<typeof schema>>

/** What was found out about a mail, and the delivery to the webhook. */
export interface PreparedMessage {
  readonly subject: string
  /** Addresses of From. */
  readonly from: readonly string[]
  /** Why the mail cannot be shown; null when it can. */
  readonly unreadable: string | null
  readonly authentication: Authentication
  /** Id of the webhook attempt. */
  readonly deliveryId: string
}

/** A small mail takes room as well, for its record and for its webhook delivery. */
const weightMin = 16 * 1024

/** What a mail counts for the limit of the plan, in octets. */
export const weightOf = ({ content }: Pick<InboundMessage, 'content'>): number => Math.max(content.size, weightMin)

export const inboundMessages = defineRecord<InboundMessage>({
  name: 'inbound_message',
  schema,
  indexes: { route: ({ routeId }) => [[routeId]], project: ({ projectId }) => [[projectId]] },
  projectOf: ({ projectId }) => projectId,
})

/** Rows of mails that are to be prepared: organization and id. */
export const unpreparedKey = (...rest: readonly Element[]): readonly Element[] => globalKey('inbound.unprepared', ...rest)

/** See `Database.onWork`. */
export const preparationWork = 'inbound.unprepared'
