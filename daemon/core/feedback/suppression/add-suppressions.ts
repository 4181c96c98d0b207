/** Adds entries to the suppression list in one atomic write, without duplicates. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { countSuppressed } from '../../insights/count.ts'
import { countSuppressions } from './counts.ts'
import { isEarlierUnsubscribe, optOutOf } from './earlier-unsubscribes.ts'
import { optOuts } from './opt-out.ts'
import { isAutomatic, isInForce, suppressions, type Suppression, type SuppressionSource } from './suppression.ts'
import { transact } from '../../writes/transact.ts'

export interface AddedSuppression {
  /** The current entry of the address: the new or the existing entry. */
  readonly suppression: Suppression
  readonly added: boolean
}

/** Correction of an entry after better evidence replaced the report that added it. */
export interface Correction {
  readonly email: string
  /** Id of the entry that the report added. */
  readonly id: string
  /** The new reason of the entry; null removes the entry. */
  readonly reason: string | null
}

export interface AddOptions {
  readonly also?: (change: Change) => void
  readonly expectsNew?: boolean
}

type AddressStates = ReadonlyMap<string, AddressState>

interface AddressState {
  readonly stored: Stored<Suppression> | undefined
  /** The stored entry is an unsubscribe from before 2026-11-22 that is in force. */
  readonly isOptOut: boolean
  /** Entry in force before this write. */
  readonly before: Suppression | undefined
  /** Entry in force after this write; undefined without such an entry. */
  standing: Suppression | undefined
}

/**
 * Adds the missing entries. A new entry replaces an expired entry. An entry in force stays, but its expiry is extended to that of the new
 * entry. `also` adds to a write that changes anything. `expectsNew` skips the read of the list; a conflict then repeats the write with a
 * read. Resolves when the write is durable; throws `conflict` after repeated concurrent writes.
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
    isLooking = true // a retry means that an entry exists
    return results
  })
}

/** Returns for each entry whether it would be added now. Commits nothing. */
export async function wouldAdd(
  database: Database,
  organizationId: string,
  entries: readonly Suppression[],
  nowMs: number,
): Promise<readonly AddedSuppression[]> {
  return stage(database, new Change(), organizationId, entries, await statesOf(database, organizationId, entries, nowMs))
}

/**
 * Adds entries like `addSuppressions`, but to the caller's write. Call it once per write. Corrections are applied first. They change an
 * entry only if the report added it and no other report or member has confirmed it.
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

/** Returns the states of addresses without entries. If an entry exists, the write conflicts. */
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

/**
 * Returns the state of an address. An unsubscribe from before 2026-11-22 is not a suppression. It moves to the opt-outs when a suppression
 * replaces it.
 */
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
 * Returns the entry after another request or report for the same address. The entry keeps the later expiry, so that a temporary suppression
 * never shortens a permanent one. A complaint replaces a bounce as the source, in either order of arrival.
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
