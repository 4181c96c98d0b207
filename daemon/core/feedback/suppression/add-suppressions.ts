/** Puts entries on the suppression list: one atomic write, which adds nothing twice. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { countSuppressed } from '../../insights/count.ts'
import { countSuppressions } from './counts.ts'
import { isEarlierUnsubscribe, optOutOf } from './earlier-unsubscribes.ts'
import { optOuts } from './opt-out.ts'
import { isAutomatic, isInForce, suppressions, type Suppression, type SuppressionSource } from './suppression.ts'
import { transact } from '../../writes/transact.ts'

/** The outcome of an entry. */
export interface AddedSuppression {
  /** The entry that stands on the list now: the new one, or the one that was there. */
  readonly suppression: Suppression
  readonly added: boolean
}

/** A report that put an entry on the list was replaced by better evidence. */
export interface Correction {
  readonly email: string
  /** The entry that it made. */
  readonly id: string
  /** What the entry says from now on; null when nothing calls for it any more. */
  readonly reason: string | null
}

export interface AddOptions {
  readonly also?: (change: Change) => void
  readonly expectsNew?: boolean
}

type AddressStates = ReadonlyMap<string, AddressState>

interface AddressState {
  readonly stored: Stored<Suppression> | undefined
  /** An unsubscribe of before 2026-11-22 that is in force stands there. */
  readonly isOptOut: boolean
  /** What stood there before this write, and was in force. */
  readonly before: Suppression | undefined
  /** What stands there after this write; undefined while nothing in force does. */
  standing: Suppression | undefined
}

/**
 * Adds the entries that are not there. An expired entry makes room for the new one; one in force stays as it is, but never ends
 * earlier than the new one would. `also` adds to a write that changes anything. A caller that expects none there says so, and the
 * list is read only when that proves wrong. Resolves when all is durable; throws `conflict` when others keep writing the same.
 */
export async function addSuppressions(
  database: Database,
  organizationId: string,
  entries: readonly Suppression[],
  nowMs: number,
  { also = () => {}, expectsNew = false }: AddOptions = {},
): Promise<readonly AddedSuppression[]> {
  let isLooking = !expectsNew
  return transact(database, { organizationId }, async (change) => {
    const states = isLooking ? await statesOf(database, organizationId, entries, nowMs) : newStates(entries)
    const results = stage(database, change, organizationId, entries, states)
    if (change.sets.length > 0) also(change)
    isLooking = true // another try means that there is something
    return results
  })
}

/** Whether each entry would be added now, by a write that is never committed. */
export async function wouldAdd(
  database: Database,
  organizationId: string,
  entries: readonly Suppression[],
  nowMs: number,
): Promise<readonly AddedSuppression[]> {
  return stage(database, new Change(), organizationId, entries, await statesOf(database, organizationId, entries, nowMs))
}

/**
 * Like `addSuppressions`, in a write of the caller's; once for each write. Corrections come first; they change an entry only while
 * it is the one that the report made and no one else has asked for it.
 */
export async function stageSuppressions(
  database: Database,
  change: Change,
  organizationId: string,
  entries: readonly Suppression[],
  nowMs: number,
  corrections: readonly Correction[] = [],
): Promise<readonly AddedSuppression[]> {
  const states = await statesOf(database, organizationId, [...corrections, ...entries], nowMs)
  return stage(database, change, organizationId, entries, states, corrections)
}

async function statesOf(
  database: Database,
  organizationId: string,
  entries: readonly { readonly email: string }[],
  nowMs: number,
): Promise<AddressStates> {
  const emails = [...new Set(entries.map(({ email }) => email))]
  const found = await database.findMany(
    suppressions,
    { organizationId },
    'email',
    emails.map((email) => [email]),
  )
  return new Map(emails.map((email, i) => [email, stateOf(found[i], nowMs)]))
}

/** Where nothing stands; if something does, the write of it conflicts. */
function newStates(entries: readonly Suppression[]): AddressStates {
  return new Map(entries.map(({ email }) => [email, { stored: undefined, isOptOut: false, before: undefined, standing: undefined }]))
}

function stage(
  database: Database,
  change: Change,
  organizationId: string,
  entries: readonly Suppression[],
  states: AddressStates,
  corrections: readonly Correction[] = [],
): readonly AddedSuppression[] {
  for (const correction of corrections) correct(states.get(correction.email), correction)
  const added = entries.map((entry) => {
    const state = states.get(entry.email)
    const isNew = state?.standing === undefined
    if (state) state.standing = state.standing ? joined(state.standing, entry) : entry
    return isNew
  })
  addTo(database, change, organizationId, states.values())
  return entries.map((entry, i) => ({ suppression: states.get(entry.email)?.standing ?? entry, added: added[i] === true }))
}

/** An unsubscribe of before 2026-11-22 is no suppression, and is moved to the opt-outs when one takes its place. */
function stateOf(stored: Stored<Suppression> | undefined, nowMs: number): AddressState {
  const inForce = stored && isInForce(stored.record, nowMs) ? stored.record : undefined
  const isOptOut = inForce !== undefined && isEarlierUnsubscribe(inForce)
  const before = isOptOut ? undefined : inForce
  return { stored, isOptOut, before, standing: before }
}

function correct(state: AddressState | undefined, { id, reason }: Correction): void {
  const { standing } = state ?? {}
  if (!state || !standing || standing.id !== id || standing.isConfirmed) return
  state.standing = reason === null ? undefined : { ...standing, reason }
}

/**
 * The standing entry after somebody else called for one. Who must not get mail must not get it earlier because somebody had said
 * "not this week"; of bounces and complaints, the complaint stands in the entry, whichever came first.
 */
function joined(standing: Suppression, { expiresAt, source, reason }: Suppression): Suppression {
  const isLonger = standing.expiresAt !== null && (expiresAt === null || expiresAt > standing.expiresAt)
  const isWeightier = standing.source === 'bounce' && source === 'complaint'
  const isConfirming = isAutomatic(standing) && !standing.isConfirmed
  if (!isLonger && !isWeightier && !isConfirming) return standing
  return {
    ...standing,
    ...(isLonger && { expiresAt }),
    ...(isWeightier && { source, reason }),
    ...(isConfirming && { isConfirmed: true }),
  }
}

function addTo(database: Database, change: Change, organizationId: string, states: Iterable<AddressState>): void {
  const counted = new Map<SuppressionSource, { readonly first: Suppression; entries: number }>()
  for (const { stored, isOptOut, before, standing } of states) {
    if (standing === before) continue
    if (standing && standing.id !== before?.id) {
      const count = counted.get(standing.source)
      if (count) count.entries++
      else counted.set(standing.source, { first: standing, entries: 1 })
    }
    if (!standing) {
      if (stored) change.remove(suppressions, organizationId, stored)
    } else if (!stored) change.insertCold(suppressions, organizationId, standing)
    else if (standing.id === stored.record.id) change.rewrite(suppressions, organizationId, stored, standing)
    else {
      change.supersede(suppressions, organizationId, stored, standing)
      if (isOptOut) change.insert(optOuts, organizationId, optOutOf(database, stored.record))
    }
  }
  for (const [source, { first, entries }] of counted) {
    countSuppressions(change, first.id, source, entries)
    countSuppressed(change, { organizationId, projectId: first.projectId }, source, first.createdAt, entries)
  }
}
