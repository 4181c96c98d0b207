/** Migrations from the store format of an earlier release to the current format. */
import type { Database } from '#store/database.ts'
import type { Migration } from '#store/upgrade/migrate.ts'
import { formOfRelease } from '#store/upgrade/store-form.ts'
import type { SecretBox } from './access/secret-box.ts'
import { sealQueries } from './administration/seal-queries.ts'
import { removeCreditAlerts } from './billing/credits/earlier-alerts.ts'
import { carryCaptures } from './capture/earlier-captures.ts'
import { carryReadings } from './capture/reading/read-marks.ts'
import { indexPendingHolds } from './delivery/acts/pending-index.ts'
import { recordKinds } from './integrity.ts'
import { countByProject } from './retention/count-by-project.ts'
import { carryTraces } from './trace/earlier-traces.ts'

/** A migration that may need the master key of the store. */
interface CoreMigration extends Omit<Migration, 'run'> {
  readonly run: (database: Database, progress: (done: number) => void, secrets: SecretBox) => Promise<number>
}

/** In order. Numbers are permanent: append new migrations, and remove one only when no store of its release exists. */
export const migrations: readonly CoreMigration[] = [
  { name: 'traces lie by project and time', run: carryTraces },
  { name: 'captures are parts of their traces', run: carryCaptures },
  { name: 'captured mail of earlier releases counts as read', run: carryReadings },
  { name: 'traces are counted by project', run: countByProject },
  { name: 'pending holds are indexed', run: indexPendingHolds },
  { name: 'queries of webhook addresses are sealed', run: (database, _progress, secrets) => sealQueries(database, secrets) },
  { name: 'pending mail about credits is removed', run: removeCreditAlerts },
]

/** Returns the migrations for a store with this master key. */
export const migrationsWith = (secrets: SecretBox): readonly Migration[] =>
  migrations.map(({ name, run }) => ({ name, run: (database, progress) => run(database, progress, secrets) }))

export const releaseForm = formOfRelease(migrations.length, recordKinds)
