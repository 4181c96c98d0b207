/** Takes an organization out of the store with everything that belongs to it, in small writes that may be repeated after a crash. */
import { Change, decode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Entry } from '#store/kv.ts'
import { indexRows, type Identified, type RecordKind } from '#store/record-kind.ts'
import { unpack, within } from '#store/tuple.ts'
import type { AnyKind } from '#store/verify-records.ts'
import { captureCounter, dayOf, monthOf, organizationSendCounter, sendCounter } from './tenancy/counters.ts'
import { organizations, projects } from './tenancy/organization.ts'

export interface RemovalOptions {
  readonly database: Database
  /** Every kind of record there is: those with values that are unique in the whole store have rows outside the organization. */
  readonly kinds: readonly AnyKind[]
}

const stepRows = 500
const dayMs = 86_400_000

/** Nothing of the organization may be in use any more: nothing queued, no token alive. */
export async function removeOrganization({ database, kinds }: RemovalOptions, organizationId: string, now: number): Promise<void> {
  await removeCounters(database, organizationId, now)
  const kindOf = new Map(kinds.map((kind) => [kind.name, kind]))
  let change = new Change()
  const step = async (): Promise<void> => {
    change.settingsOf.add(organizationId)
    await database.commit(change)
    change = new Change()
  }
  for await (const entry of database.kv.range(within([organizationId]))) {
    change.deletes.push(entry.key, ...outsideRows(kindOf, organizationId, entry))
    if (change.deletes.length >= stepRows) await step()
  }
  await step()
}

/** The rows of a record that stand outside its organization. */
function outsideRows(kinds: ReadonlyMap<string, AnyKind>, organizationId: string, { key, value }: Entry): readonly Uint8Array[] {
  const [, name, ...rest] = unpack(key)
  const kind = rest.length === 1 ? kinds.get(String(name)) : undefined
  if (!kind || Object.keys(kind.lookups).length === 0) return []
  const lookups: RecordKind<Identified> = { ...kind, indexes: {}, unique: {} }
  return indexRows(lookups, organizationId, decode<Identified>(value)).map((row) => row.key)
}

/** Counters are found by their names only: those of every day and month since the organization was made. */
async function removeCounters(database: Database, organizationId: string, now: number): Promise<void> {
  const organization = await database.get(organizations, { organizationId }, organizationId)
  if (!organization) return
  const owned = await database.all(projects, { organizationId })
  const change = new Change()
  for (let day = Math.floor(organization.record.createdAt / dayMs); day <= Math.floor(now / dayMs); day++) {
    const at = day * dayMs
    change.delete(organizationSendCounter(organizationId, dayOf(at)))
    for (const { record } of owned)
      change.delete(sendCounter(organizationId, record.id, dayOf(at))).delete(captureCounter(organizationId, record.id, monthOf(at)))
  }
  await database.commit(change)
}
