/** Opt-outs: recipients that left a list. Mail without a list, such as receipts and password resets, is still delivered to them. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { foldAddress } from '../../addresses.ts'
import type { Trace } from '../../trace/trace.ts'
import { foldEmail } from './suppression.ts'

/** The list of a message, which its recipient can leave. */
export interface MailingList {
  /** Identifies the list; see `senderList` and `namedList`. */
  readonly key: string
  /** Displayed name: the name of the list, or the sender's address. */
  readonly name: string
}

const schema = z.strictObject({
  id: z.string(),
  /** Folded, see `foldEmail`; unique together with the list. */
  email: z.string(),
  /** Key of the list; `*` means every list of the organization. */
  list: z.string(),
  /** Displayed name; null for every list. */
  name: z.string().nullable(),
  /** Project of the list; null for sender lists, which belong to the organization. */
  ownerId: z.string().nullable(),
  /** Project of the message with the followed link; null if unknown. */
  projectId: z.string().nullable(),
  /** The message with the followed link; null if unknown. */
  traceId: z.string().nullable(),
  createdAt: z.int(),
})

export type OptOut = Immutable<z.infer<typeof schema>>

export const optOuts = defineRecord<OptOut>({
  name: 'unsubscribe',
  schema,
  unique: { listed: ({ email, list }) => [[email, list]] },
  isOftenEmpty: true,
  isTracked: true,
  projectOf: ({ ownerId }) => ownerId ?? undefined,
})

/** Every list of the organization: the meaning of an unsubscribe before lists existed. */
export const everyList = '*'

/**
 * Returns the list of a sender's address. It applies to the whole organization, because recipients know the address and not the project.
 */
export const senderList = (address: string): MailingList => ({ key: `sender:${foldEmail(address)}`, name: address })

/** Returns a named list of one project. Names are case-insensitive. Lists of two projects can have the same name. */
export const namedList = (projectId: string, name: string): MailingList => ({
  key: `name:${projectId}:${foldAddress(name).normalize('NFC')}`,
  name,
})

/**
 * Returns the list of a message; undefined for mail without an unsubscribe link. Links from before 2026-11-22 belong to the sender's list.
 */
export function listOf({
  list,
  hasUnsubscribeLink,
  headerFrom,
  mailFrom,
}: Pick<Trace, 'list' | 'hasUnsubscribeLink' | 'headerFrom' | 'mailFrom'>): MailingList | undefined {
  return list ?? (hasUnsubscribeLink ? senderList(headerFrom || mailFrom) : undefined)
}
