/** Puts entries on the suppression list: one atomic write, which adds nothing twice. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { Refusal } from '../refusals.ts'
import { isInForce, suppressions, type Suppression } from './suppression.ts'

/** What came of an entry. */
export interface Placed {
  /** The entry that stands on the list now: the new one, or the one that was there. */
  readonly suppression: Suppression
  readonly added: boolean
}

interface Place {
  readonly stored: Stored<Suppression> | undefined
  /** What stands there after this write; undefined while nothing in force does. */
  standing: Suppression | undefined
}

const triesMax = 5

/**
 * Adds the entries that are not there. An expired entry makes room for the new one; one in force stays as it is, but never
 * ends earlier than the new one would. `also` adds to a write that changes anything. Resolves when that is durable; throws `conflict` when others keep writing the same.
 */
export async function placeSuppressions(
  database: Database,
  organizationId: string,
  entries: readonly Suppression[],
  nowMs: number,
  also: (change: Change) => void = () => {},
): Promise<readonly Placed[]> {
  for (let tries = 0; tries < triesMax; tries++) {
    const change = new Change()
    const placed = await stageSuppressions(database, change, organizationId, entries, nowMs)
    if (change.sets.length > 0) also(change)
    if (change.sets.length === 0 || (await database.commit(change)).ok) return placed
  }
  throw new Refusal('conflict', 'The suppression list was changed by somebody else at the same time; try again.')
}

/** Like `placeSuppressions`, in a write of the caller's; once for each write. */
export async function stageSuppressions(
  database: Database,
  change: Change,
  organizationId: string,
  entries: readonly Suppression[],
  nowMs: number,
): Promise<readonly Placed[]> {
  const found = await database.findMany(
    suppressions,
    { organizationId },
    'email',
    entries.map(({ email }) => [email]),
  )
  const places = new Map<string, Place>()
  const added = entries.map((entry, i) => {
    const place = places.get(entry.email) ?? placeOf(found[i], nowMs)
    const isNew = place.standing === undefined
    place.standing = place.standing ? notEarlier(place.standing, entry) : entry
    places.set(entry.email, place)
    return isNew
  })
  addTo(change, organizationId, places.values())
  return entries.map((entry, i) => ({ suppression: places.get(entry.email)?.standing ?? entry, added: added[i] === true }))
}

const placeOf = (stored: Stored<Suppression> | undefined, nowMs: number): Place => ({
  stored,
  standing: stored && isInForce(stored.record, nowMs) ? stored.record : undefined,
})

/** Who must not get mail must not get it earlier because somebody else had said "not this week". */
function notEarlier(standing: Suppression, { expiresAt }: Suppression): Suppression {
  const longer = standing.expiresAt !== null && (expiresAt === null || expiresAt > standing.expiresAt)
  return longer ? { ...standing, expiresAt } : standing
}

function addTo(change: Change, organizationId: string, places: Iterable<Place>): void {
  for (const { stored, standing } of places) {
    if (!standing || standing === stored?.record) continue
    if (!stored) change.insert(suppressions, organizationId, standing)
    else if (standing.id === stored.record.id) change.rewrite(suppressions, organizationId, stored, standing)
    else change.supersede(suppressions, organizationId, stored, standing)
  }
}
