/** Builds the bundles of browsers and spawned daemons, once before the tests of a run. */
import { buildDashboard } from '../../../admin-api/dashboard/build.ts'
import { buildDocs } from '../../../admin-api/docs-site/build.ts'
import { buildFormScripts } from '../../../admin-api/pages/forms/scripts/build.ts'
import { buildDaemon } from '../../../daemon/packaging/build.ts'

export async function buildAll(): Promise<void> {
  await Promise.all([buildDashboard(), buildDocs(), buildFormScripts(), buildDaemon()])
}
