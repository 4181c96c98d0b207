/**
 * Bundles for browsers, built from these sources: once before a run of `npm test`, which sets a variable, and otherwise once in a process.
 */
import { buildDocs } from '../../../admin-api/docs-site/build.ts'
import { buildDashboard } from '../../../admin-api/dashboard/build.ts'
import { buildFormScripts } from '../../../admin-api/pages/forms/scripts/build.ts'

/** Set in a run that began with a build. */
export const builtVariable = 'BUILT_BEFORE_TESTS'

const once = (build: () => Promise<void>): (() => Promise<void>) => {
  let built: Promise<void> | undefined
  return () => (built ??= process.env[builtVariable] === undefined ? build() : Promise.resolve())
}

export const builtDashboard = once(buildDashboard)
export const builtDocs = once(buildDocs)
export const builtFormScripts = once(buildFormScripts)
