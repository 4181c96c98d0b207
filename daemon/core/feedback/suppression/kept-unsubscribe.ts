/** What an unsubscribe link needs once its trace is gone: links in old mail must work longer than traces are kept. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import type { Trace } from '../../trace/trace.ts'
import { listOf, senderList, type MailingList } from './opt-out.ts'

/** Whom a link is about, and in whose name. */
export interface LinkedMessage {
  readonly organizationId: string
  readonly projectId: string
  readonly traceId: string
  readonly recipient: string
  readonly sender: string
  readonly list: MailingList
}

/** Links work this long after the message was accepted. */
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

/** Adds to the write that removes a trace what its link needs, where it has one that may have reached somebody. */
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
