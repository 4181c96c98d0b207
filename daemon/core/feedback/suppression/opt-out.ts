/** Opt-outs: who wants no more mail of a list. Mail without a list, such as receipts and password resets, still goes to them. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { foldAddress } from '../../addresses.ts'
import type { Trace } from '../../trace/trace.ts'
import { foldEmail } from './suppression.ts'

/** A list that a message belongs to, and that its recipient can leave. */
export interface MailingList {
  /** The same for the same list, see `senderList` and `namedList`. */
  readonly key: string
  /** As people read it: the name, or the address of the sender. */
  readonly name: string
}

const schema = z.strictObject({
  id: z.string(),
  /** Folded, see `foldEmail`; unique together with the list. */
  email: z.string(),
  /** The key of the list; `*` is every list of the organization. */
  list: z.string(),
  /** As people read it; null for every list. */
  name: z.string().nullable(),
  /** The project whose list it is; null for lists of a sender, which are of the whole organization. */
  ownerId: z.string().nullable(),
  /** The project of the message whose link was followed; null when that is not known. */
  projectId: z.string().nullable(),
  /** The message whose link was followed; null when that is not known. */
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

/** Every list of the organization: what an unsubscribe meant before there were lists. */
export const everyList = '*'

/** The list of a sender's address; of the whole organization, as recipients know the address and no projects. */
export const senderList = (address: string): MailingList => ({ key: `sender:${foldEmail(address)}`, name: address })

/** A list by its name, in any case of letters; of one project, as the lists of two can have the same name. */
export const namedList = (projectId: string, name: string): MailingList => ({
  key: `name:${projectId}:${foldAddress(name).normalize('NFC')}`,
  name,
})

/** The list of a message; undefined for mail without an unsubscribe link. Links of before 2026-11-22 belong to the list of the sender. */
export function listOf({
  list,
  hasUnsubscribeLink,
  headerFrom,
  mailFrom,
}: Pick<Trace, 'list' | 'hasUnsubscribeLink' | 'headerFrom' | 'mailFrom'>): MailingList | undefined {
  return list ?? (hasUnsubscribeLink ? senderList(headerFrom || mailFrom) : undefined)
}
