/** Moves unsubscribes from before 2026-11-22 from the suppression list to the opt-outs. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { indexPrefix, type Stored } from '#store/record-kind.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import { isSwitchedOn, type FeatureSettings } from '../../plan/features.ts'
import { readReports, type TraceReport } from '../../trace/trace-report.ts'
import { traces } from '../../trace/trace.ts'
import { causeAtOnce, consequenceOf } from './auto-suppression.ts'
import { isEarlierUnsubscribe, optOutOf } from './earlier-unsubscribes.ts'
import { optOuts } from './opt-out.ts'
import { addSuppressions } from './add-suppressions.ts'
import { foldEmail, suppressions, type Suppression } from './suppression.ts'

const pageRows = 200
/** Maximum number of messages examined per address, latest first. */
const maxMessages = 50
const doneKey = (organizationId: string): readonly Element[] => [organizationId, 'unsubscribe.moved']

interface Moving {
  readonly database: Database
  readonly organization: FeatureSettings & { readonly id: string }
  readonly nowMs: number
}

/**
 * Moves the unsubscribes of one organization, once. Each entry is moved in one write. Entries with an expiry stay, because opt-outs have no
 * expiry.
 */
export async function moveEarlierUnsubscribes(moving: Moving, stopping: () => boolean): Promise<void> {
  const { database, organization } = moving
  const organizationId = organization.id
  if (await database.isEmpty(suppressions, organizationId)) return
  if (await database.kv.get(pack(doneKey(organizationId)))) return
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    if (stopping()) return
    const page = await database.list(suppressions, { organizationId }, { limit: pageRows, cursor, ascending: true, forWork: true })
    for (const stored of page.rows) if (isEarlierUnsubscribe(stored.record) && stored.record.expiresAt === null) await move(moving, stored)
    cursor = page.nextCursor
  }
  await database.commit(new Change().set(doneKey(organizationId)))
}

async function move(moving: Moving, stored: Stored<Suppression>): Promise<void> {
  const { database, organization, nowMs } = moving
  const entry = await swallowedBy(moving, stored.record)
  if (entry) return void (await addSuppressions(database, organization.id, [entry], nowMs)) // which also moves the unsubscribe it replaces
  const change = new Change().remove(suppressions, organization.id, stored)
  // ignores a conflict: after a concurrent change the entry is moved, removed, or still read as an opt-out
  await database.commit(change.insert(optOuts, organization.id, optOutOf(database, stored.record)))
}

/** Returns the suppression that a later bounce or complaint called for. It was not added then, because the address was already listed. */
async function swallowedBy({ database, organization, nowMs }: Moving, { email, createdAt }: Suppression): Promise<Suppression | undefined> {
  if (!isSwitchedOn(organization, 'bounce_auto_suppress')) return undefined
  const range = within([...indexPrefix(traces.name, organization.id, 'recipient'), email])
  for await (const { key } of database.kv.range({ ...range, limit: maxMessages, reverse: true })) {
    const stored = await database.get(traces, { organizationId: organization.id }, String(unpack(key).at(-1)))
    if (!stored) continue
    for (const { record } of await readReports(database, organization.id, stored.record.id)) {
      if (record.at < createdAt || foldEmail(record.recipient ?? '') !== email) continue
      const report = { ...record, maySuppress: couldSuppress(record, stored.record.recipients.length) }
      const { entry } = consequenceOf(database, report, undefined, causeAtOnce(report), nowMs)
      if (entry) return entry
    }
  }
  return undefined
}

/** Derives the permission to suppress for reports from before 2026-11-22, which do not store it. */
const couldSuppress = ({ isUnverified, proof, maySuppress }: TraceReport, recipients: number): boolean =>
  maySuppress ?? (!isUnverified && (proof === 'return_path' || proof === 'queue_id' || (proof === 'reference' && recipients === 1)))
