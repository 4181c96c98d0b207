/** Stores the data of unsubscribe links after their traces are removed. Links in old mail must work longer than traces are stored. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import type { Trace } from '../../trace/trace.ts'
import { listOf, senderList, type MailingList } from './opt-out.ts'

/** The recipient, sender and list of a link. */
export interface LinkedMessage {
  readonly organizationId: string
  readonly projectId: string
  readonly traceId: string
  readonly recipient: string
  readonly sender: string
  readonly list: MailingList
}

/** Validity of links after the message was accepted. */
const linkMs = 365 * 86_400_000

export const linkedMessage = (organizationId: string, trace: Trace): LinkedMessage => {
  const { id, projectId, recipients, headerFrom, mailFrom } = trace
  const sender = headerFrom || mailFrom
  return {
    organizationId,
    projectId,
    traceId: id,
    recipient: recipients[0]?.address ?? '',
    sender,
    list: listOf(trace) ?? senderList(sender),
  }
}

const keptKey = (traceId: string) => globalKey('unsubscribe.kept', traceId)

/**
 * Adds the data of the link to the write that removes the trace. Does nothing for a message without a valid link or one that was not
 * relayed.
 */
export function keepUnsubscribe(change: Change, organizationId: string, trace: Trace, nowMs: number): void {
  const until = trace.createdAt + linkMs
  if (!trace.hasUnsubscribeLink || trace.outcome !== 'relayed' || until <= nowMs) return
  change.set(keptKey(trace.id), encode(linkedMessage(organizationId, trace))).expire(until, keptKey(trace.id))
}

export async function keptUnsubscribe(database: Database, traceId: string): Promise<LinkedMessage | undefined> {
  const entry = await database.kv.get(pack(keptKey(traceId)))
  const kept = entry && decode<Omit<LinkedMessage, 'list'> & Partial<LinkedMessage>>(entry.value)
  return kept && { ...kept, list: kept.list ?? senderList(kept.sender) }
}
