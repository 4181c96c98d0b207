/** Ends findings of a deleted organization or project, whatever opened them. */
import type { Database } from '#store/database.ts'
import { transact } from '../writes/transact.ts'
import { findings, type Finding } from './finding.ts'
import type { Settle } from './settle.ts'

export interface Ending {
  readonly database: Database
  readonly settle: Pick<Settle, 'end'>
}

/** Number of findings in one write. */
const batch = 20
/** Maximum number of findings that one call ends. */
const maxEnded = 10_000

/** Ends the open findings that satisfy `isMeant`, in small writes, so that channels that told them tell their end. */
export async function endFindings(
  { database, settle }: Ending,
  organizationId: string,
  isMeant: (finding: Finding) => boolean = () => true,
): Promise<void> {
  const reach = { organizationId }
  const open = await database.list(findings, reach, { index: 'listed', values: ['open'], limit: maxEnded, forWork: true })
  const meant = open.rows.map(({ record }) => record).filter(isMeant)
  for (let at = 0; at < meant.length; at += batch)
    await transact(database, reach, async (change) => {
      for (const finding of meant.slice(at, at + batch)) await settle.end(change, organizationId, finding)
    })
}
