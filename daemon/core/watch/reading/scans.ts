/** Uploaded files that wait for a virus scan. */
import type { Database } from '#store/database.ts'
import { unpack, within } from '#store/tuple.ts'
import { scanKey } from '../../forms/uploads/submission-file.ts'
import { formSubmissions } from '../../forms/submissions/submission.ts'

/** Waiting files of an organization. */
export interface WaitingScans {
  readonly count: number
  /** Arrival of the first one. */
  readonly since: number
}

/** Maximum number of rows of the whole service, oldest first. */
const maxRows = 1000

export async function readScans(database: Database): Promise<ReadonlyMap<string, WaitingScans>> {
  const rows: { readonly submissionId: string; readonly organizationId: string }[] = []
  for await (const { key } of database.kv.range({ ...within(scanKey()), limit: maxRows })) {
    const [, , submissionId = '', , organizationId = ''] = unpack(key).map(String)
    rows.push({ submissionId, organizationId })
  }
  const found = new Map<string, WaitingScans>()
  for (const [organizationId, waiting] of Map.groupBy(rows, (row) => row.organizationId)) {
    const first = await database.get(formSubmissions, { organizationId }, waiting[0]?.submissionId ?? '')
    if (first) found.set(organizationId, { count: waiting.length, since: first.record.createdAt })
  }
  return found
}
