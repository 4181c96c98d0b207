/**
 * Keeps mail from suppressed recipients: the look-up, and what it makes of a trace; and the answer about one address. Spec "Trace status".
 */
import type { Database } from '#store/database.ts'
import { reachOf, type Reach } from '../../access/principal/organization-acts.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { advance, worstStatus } from '../../trace/states.ts'
import type { RecipientSuppression, Trace, TraceRecipient } from '../../trace/trace.ts'
import { isEarlierUnsubscribe } from './earlier-unsubscribes.ts'
import { everyList, listOf, optOuts, type MailingList } from './opt-out.ts'
import { foldEmail, isInForce, suppressions, type Suppression } from './suppression.ts'

/** What keeps the message from a recipient: an entry of the suppression list, or that the recipient left the list of the message. */
export type Hit = Omit<RecipientSuppression, 'at'>

type Addressed = Pick<Trace, 'list' | 'hasUnsubscribeLink' | 'headerFrom' | 'mailFrom'> & {
  readonly recipients: readonly Pick<TraceRecipient, 'address' | 'status'>[]
}

const none: ReadonlyMap<string, Hit> = new Map()

/** Whether it is known without a read that nothing can keep the message from anybody; false is no answer. */
export const hasNoOptOuts = (database: Database, organizationId: string, trace: Addressed): boolean =>
  database.isKnownEmpty(suppressions, organizationId) && (!listOf(trace) || database.isKnownEmpty(optOuts, organizationId))

/**
 * The suppressions of recipients that still wait for the message, by address as the trace has it. No read where the lists are
 * empty. Opt-outs keep back what belongs to their list, and nothing else.
 */
export async function suppressionsAgainst(
  database: Database,
  organizationId: string,
  trace: Addressed,
  nowMs: number,
): Promise<ReadonlyMap<string, Hit>> {
  const waiting = trace.recipients.filter(({ status }) => status === 'queued').map(({ address }) => address)
  const list = listOf(trace)
  const [suppressed, optedOut] = [
    await suppressedOf(database, organizationId, waiting, list, nowMs),
    list ? await optedOutOf(database, organizationId, waiting, list) : none,
  ]
  return optedOut.size === 0 ? suppressed : new Map([...optedOut, ...suppressed])
}

async function suppressedOf(
  database: Database,
  organizationId: string,
  addresses: readonly string[],
  list: MailingList | undefined,
  nowMs: number,
): Promise<ReadonlyMap<string, Hit>> {
  if (await database.isEmpty(suppressions, organizationId)) return none
  const values = addresses.map((address) => [foldEmail(address)])
  const found = await database.findMany(suppressions, { organizationId }, 'email', values)
  const hits = addresses.flatMap((address, i): [string, Hit][] => {
    const record = found[i]?.record
    if (!record || !isInForce(record, nowMs) || (isEarlierUnsubscribe(record) && !list)) return []
    const { id, source, reason, projectId } = record
    return [[address, { id, source, reason, projectId }]]
  })
  return new Map(hits)
}

async function optedOutOf(
  database: Database,
  organizationId: string,
  addresses: readonly string[],
  { key, name }: MailingList,
): Promise<ReadonlyMap<string, Hit>> {
  if (await database.isEmpty(optOuts, organizationId)) return none
  const values = addresses.flatMap((address) => [key, everyList].map((list) => [foldEmail(address), list]))
  const found = await database.findMany(optOuts, { organizationId }, 'listed', values)
  const hits = addresses.flatMap((address, i): [string, Hit][] => {
    const record = (found[2 * i] ?? found[2 * i + 1])?.record
    const from = record?.name === null ? 'every list' : `the list ${name}`
    return record ? [[address, { id: record.id, source: 'unsubscribe', reason: `Unsubscribed from ${from}.` }]] : []
  })
  return new Map(hits)
}

/** The trace without them: they are `suppressed` and say by which entry, the others go on. Without hits it is the same trace. */
export function withoutSuppressed(trace: Trace, hits: ReadonlyMap<string, Hit>, nowMs: number): Trace {
  if (hits.size === 0) return trace
  const recipients = trace.recipients.map((recipient): TraceRecipient => {
    const hit = recipient.status === 'queued' ? hits.get(recipient.address) : undefined
    if (!hit) return recipient
    return { ...recipient, status: advance(recipient.status, 'suppressed'), suppression: { ...hit, at: nowMs } }
  })
  const status = worstStatus(recipients.map((recipient) => recipient.status))
  return { ...trace, recipients, status, updatedAt: nowMs, nextAttemptAt: status === 'queued' ? trace.nextAttemptAt : null }
}

/** Whether an entry is within a reach of the principal. */
export const isWithin = (reach: Reach, { projectId }: Principal, entry: Pick<Suppression, 'projectId'>): boolean =>
  reach === 'all' || (reach === 'own' && entry.projectId === projectId)

export const isReadBy = (principal: Principal, entry: Pick<Suppression, 'projectId'>): boolean =>
  isWithin(reachOf(principal, 'suppressions.read'), principal, entry)

/** The answer about one address. */
export interface SuppressionMatch {
  /** As the list has it. */
  readonly email: string
  /** An entry is in force. */
  readonly isMatch: boolean
  /** Undefined without a match, and for callers who may not read the entry. */
  readonly entry: Suppression | undefined
}

export async function matchSuppression(database: Database, principal: Principal, email: string, nowMs: number): Promise<SuppressionMatch> {
  const stored = await database.find(suppressions, principal, 'email', [email])
  const entry = stored && isInForce(stored.record, nowMs) && !isEarlierUnsubscribe(stored.record) ? stored.record : undefined
  return { email, isMatch: entry !== undefined, entry: entry && isReadBy(principal, entry) ? entry : undefined }
}
