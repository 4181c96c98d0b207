/** Removes old tests with their mails and reports, in small writes. It can stop between any two writes. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { inspectTests, removeInspectTest } from './inspect-test.ts'

const dayMs = 86_400_000
/** Retention of tests in days, limited by the plan's trace retention. */
const keptDays = 90
const batch = 20

interface SweepWork {
  readonly database: Database
  readonly stopping: () => boolean
}

/** Returns the number of removed tests. */
export async function sweepInspectTests(
  { database, stopping }: SweepWork,
  organizationId: string,
  { nowMs, retentionDays = Infinity }: { readonly nowMs: number; readonly retentionDays?: number | undefined },
): Promise<number> {
  const before = nowMs - Math.min(keptDays, retentionDays) * dayMs
  let gone = 0
  while (!stopping()) {
    // ids start with the time, so the oldest tests come first
    const { rows } = await database.list(inspectTests, { organizationId }, { limit: batch, ascending: true, forWork: true })
    const old = rows.filter(({ record }) => record.createdAt < before && record.expiresAt < nowMs)
    if (old.length === 0) return gone
    for (const stored of old) if ((await database.commit(removeInspectTest(new Change(), organizationId, stored))).ok) gone += 1
  }
  return gone
}
