/** The steps that lead a store of an earlier release into the form of this one, and that form. */
import type { Migration } from '#store/upgrade/migrate.ts'
import { formOfRelease } from '#store/upgrade/store-form.ts'
import { carryCaptures } from './capture/earlier-captures.ts'
import { carryReadings } from './capture/reading/read-marks.ts'
import { indexPendingHolds } from './delivery/acts/pending-index.ts'
import { recordKinds } from './integrity.ts'
import { countByProject } from './retention/count-by-project.ts'
import { carryTraces } from './trace/earlier-traces.ts'

/** In their order. A number is that of a step for ever: add at the end, and take none away before no store of its time is left. */
export const migrations: readonly Migration[] = [
  { name: 'traces lie by project and time', run: carryTraces },
  { name: 'captures are parts of their traces', run: carryCaptures },
  { name: 'captured mail of earlier releases counts as read', run: carryReadings },
  { name: 'traces are counted by project', run: countByProject },
  { name: 'pending holds are indexed', run: indexPendingHolds },
]

export const releaseForm = formOfRelease(migrations.length, recordKinds)
