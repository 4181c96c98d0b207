/** A mail that arrived at an inbound route. The store has its octets; they are parsed after the acknowledgement. */
import { defineRecord, globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'
import type { Authentication } from './authentication.ts'

const text = z.string()

const schema = z.strictObject({
  id: text,
  routeId: text,
  /** The project of the route on arrival. Does not change when the route moves. */
  projectId: text,
  /** Reverse-path; empty if null. */
  mailFrom: text,
  /** The recipients that the route accepted, as the sending server wrote them. */
  recipients: z.array(text),
  remoteAddress: text,
  helo: text,
  isEncrypted: z.boolean(),
  receivedAt: z.int(),
  /** Return-Path, loop mark and Received with line ends; they precede the content. */
  prefix: text,
  content: z.strictObject({ id: text, size: z.int(), sha256: text, rows: z.int() }),
  /** Null until the mail is prepared for the webhook, soon after its arrival. */
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

/** The results of the preparation, and the webhook delivery. */
export interface PreparedMessage {
  readonly subject: string
  /** Addresses in From. */
  readonly from: readonly string[]
  /** Why the mail cannot be displayed; null if it can. */
  readonly unreadable: string | null
  readonly authentication: Authentication
  /** Webhook attempt id. */
  readonly deliveryId: string
}

/** Minimum weight of a mail, for its record and its webhook delivery. */
const weightMin = 16 * 1024

/** Returns the octets that a mail counts toward the plan's limit. */
export const weightOf = ({ content }: Pick<InboundMessage, 'content'>): number => Math.max(content.size, weightMin)

export const inboundMessages = defineRecord<InboundMessage>({
  name: 'inbound_message',
  schema,
  indexes: { route: ({ routeId }) => [[routeId]], project: ({ projectId }) => [[projectId]] },
  projectOf: ({ projectId }) => projectId,
})

/** Key of a row for a mail without preparation: organization and id. */
export const unpreparedKey = (...rest: readonly Element[]): readonly Element[] => globalKey('inbound.unprepared', ...rest)

/** See `Database.onWork`. */
export const preparationWork = 'inbound.unprepared'
