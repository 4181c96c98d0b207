/** Finds suppressed recipients of a message, marks them in its trace, and checks single addresses. Spec "Trace status". */
import type { Database } from '#store/database.ts'
import { reachOf, type Reach } from '../../access/principal/organization-acts.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { advance, worstStatus } from '../../trace/states.ts'
import type { RecipientSuppression, Trace, TraceRecipient } from '../../trace/trace.ts'
import { isEarlierUnsubscribe } from './earlier-unsubscribes.ts'
import { everyList, listOf, optOuts, type MailingList } from './opt-out.ts'
import { foldEmail, isInForce, suppressions, type Suppression } from './suppression.ts'

/** The reason why a recipient does not get the message: a suppression, or an opt-out from the message's list. */
export type Hit = Omit<RecipientSuppression, 'at'>

type Addressed = Pick<Trace, 'list' | 'hasUnsubscribeLink' | 'headerFrom' | 'mailFrom'> & {
  readonly recipients: readonly Pick<TraceRecipient, 'address' | 'status'>[]
}

const none: ReadonlyMap<string, Hit> = new Map()

/** Whether the cache knows that both lists are empty. False means unknown. */
export const hasNoOptOuts = (database: Database, organizationId: string, trace: Addressed): boolean =>
  database.isKnownEmpty(suppressions, organizationId) && (!listOf(trace) || database.isKnownEmpty(optOuts, organizationId))

/**
 * Returns the suppressions of queued recipients, keyed by address as in the trace. Reads nothing if the lists are empty. Opt-outs apply
 * only to mail of their list.
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

/**
 * Returns the trace with these recipients `suppressed`, each with its entry. Other recipients do not change. Without hits, returns the same
 * trace.
 */
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

/** Whether the principal's reach includes the entry. */
export const isWithin = (reach: Reach, { projectId }: Principal, entry: Pick<Suppression, 'projectId'>): boolean =>
  reach === 'all' || (reach === 'own' && entry.projectId === projectId)

export const isReadBy = (principal: Principal, entry: Pick<Suppression, 'projectId'>): boolean =>
  isWithin(reachOf(principal, 'suppressions.read'), principal, entry)

/** The result of a check of one address. */
export interface SuppressionMatch {
  /** Address in the form of the list. */
  readonly email: string
  /** A suppression is in force. */
  readonly isMatch: boolean
  /** Undefined without a match, or if the caller may not read the entry. */
  readonly entry: Suppression | undefined
}

export async function matchSuppression(database: Database, principal: Principal, email: string, nowMs: number): Promise<SuppressionMatch> {
  const stored = await database.find(suppressions, principal, 'email', [email])
  const entry = stored && isInForce(stored.record, nowMs) && !isEarlierUnsubscribe(stored.record) ? stored.record : undefined
  return { email, isMatch: entry !== undefined, entry: entry && isReadBy(principal, entry) ? entry : undefined }
}
