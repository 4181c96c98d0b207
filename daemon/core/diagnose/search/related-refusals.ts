/** Counts recent refusals of the same recipient, of its domain, and with the same reply. */
import type { Database } from '#store/database.ts'
import { indexPrefix } from '#store/record-kind.ts'
import { pack, unpack } from '#store/tuple.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { foldEmail } from '../../feedback/suppression/suppression.ts'
import { traceReports, type TraceReport } from '../../trace/trace-report.ts'
import type { Trace, TraceRecipient } from '../../trace/trace.ts'
import { tracesTo, visitTraces } from './trace-reads.ts'

const dayMs = 86_400_000
const recipientDays = 30
/**
 * Maximum number of rows examined per search, latest first: messages to the recipient, messages of the last day, and reports of the domain.
 */
const maxToRecipient = 200
const maxLastDay = 2000
const maxReports = 500

export interface Related {
  /** Other messages to this recipient that failed in the last 30 days. */
  readonly sameRecipient: number
  /** Other messages to its domain that failed in the last 24 hours. */
  readonly sameDomainLast24h: number
  /** Other messages to any recipient that got the same reply in the last 24 hours. */
  readonly sameReplyLast24h: number
  /** False if there are more messages than the maximum, so that the counts may be too low. */
  readonly isComplete: boolean
  /** Number of days within the last 30 with a soft bounce of the recipient. */
  readonly softDays: number
}

export async function relatedTo(
  database: Database,
  principal: Principal,
  trace: Trace,
  recipient: string,
  replyText: string | undefined,
  nowMs: number,
): Promise<Related> {
  const folded = foldEmail(recipient)
  const print = replyText === undefined ? undefined : fingerprint(replyText) || undefined
  const day = { from: nowMs - dayMs, to: nowMs + 1 }
  const others = (
    await tracesTo(database, principal, recipient, { from: nowMs - recipientDays * dayMs, to: nowMs + 1 }, maxToRecipient)
  ).flatMap((one) =>
    one.recipients.filter(({ address }) => foldEmail(address) === folded).map((fate) => ({ isThis: one.id === trace.id, fate })),
  )
  const domains = new Set<string>()
  const replies = new Set<string>()
  const isComplete = await visitTraces(database, principal, day, maxLastDay, (one) => {
    if (one.id === trace.id) return
    if (one.recipients.some(({ address, status }) => isFailure(status) && domainOf(address) === domainOf(folded))) domains.add(one.id)
    if (print !== undefined && one.recipients.some(({ reply }) => reply && reply.code >= 400 && fingerprint(reply.text) === print))
      replies.add(one.id)
  })
  for (const report of await domainReports(database, principal, domainOf(folded), day.from))
    if (report.type === 'bounced' && report.traceId !== trace.id && print !== undefined && fingerprint(report.diagnostic ?? '') === print)
      replies.add(report.traceId)
  const softDays = others.flatMap(({ fate: { report } }) => (report?.bounce === 'soft' ? [Math.floor(report.at / dayMs)] : []))
  return {
    sameRecipient: others.filter(({ isThis, fate }) => !isThis && isFailure(fate.status)).length,
    sameDomainLast24h: domains.size,
    sameReplyLast24h: replies.size,
    isComplete,
    softDays: new Set(softDays).size,
  }
}

/** Returns bounces and complaints of a domain since a time, latest first. */
export async function domainReports(database: Database, principal: Principal, domain: string, since: number): Promise<TraceReport[]> {
  const prefix = [...indexPrefix(traceReports.name, principal.organizationId, 'trouble'), domain]
  const range = {
    start: pack([...prefix, since]),
    end: pack([...prefix, Number.MAX_SAFE_INTEGER]),
    reverse: true,
    limit: maxReports,
    whole: 'shown' as const,
  }
  const found: TraceReport[] = []
  for await (const { key } of database.kv.range(range)) {
    const stored = await database.get(traceReports, principal, String(unpack(key).at(-1)))
    if (stored) found.push(stored.record)
  }
  return found
}

const isFailure = (status: TraceRecipient['status']): boolean => status === 'bounced' || status === 'failed'

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/** Returns a reply without the words that differ per message: addresses, links, numbers and queue ids. */
export const fingerprint = (text: string): string =>
  text
    .slice(0, 500)
    .toLowerCase()
    .replaceAll(/<[^<>]{0,320}>/g, ' ')
    .split(/[\s<>()[\]]+/)
    .filter((word) => !/[@\d]/.test(word) && !word.includes('://'))
    .join(' ')
