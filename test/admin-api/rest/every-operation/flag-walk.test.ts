/**
 * Runs every operation of the table with each flag off: only the operations of the flag are refused, with `feature_disabled`. New
 * operations and flags are included automatically.
 */
import test from '#test'
import { featureFlag, featureNames, type Feature } from '#config/plans/features.ts'
import type { Operation } from '../../../../admin-api/operation/operation.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { ask, requestOf, installationOf, type Installation } from '../fixture/one-of-everything.ts'

/** Requests that use the feature of the flag, for operations of `within` whose request in requests.ts does not use it. */
const asking: Partial<Record<Feature, Record<string, (installation: Installation, operation: Operation<never>) => Promise<RestAnswer>>>> = {
  templates: {
    sendMessage: (installation, operation) =>
      ask(installation.rest, operation, {
        outsider: 'refused',
        body: { from: 'a@example.ch', to: 'b@example.ch', template_slug: 'order' },
      }),
  },
}

const setFlag = (installation: Installation, flag: Feature, isOn: boolean): Promise<unknown> =>
  installation.operator.must('PUT', `/operator/v1/organizations/${installation.organizationId}/flags`, { [flag]: isOn })

function outcomeOf({ status, body }: RestAnswer): string {
  const { code, details } = (body as { error?: { code: string; details?: { flag?: string } } } | undefined)?.error ?? {}
  if (code === 'feature_disabled') return `${status} ${code} ${details?.flag}`
  return status < 400 ? 'answered' : `${status} ${code}`
}

/** Without a key, the caller sees only that the form or link is not found. */
function hiddenAs({ path, operationId }: Operation<never>): string | undefined {
  if (path.startsWith('/v1/public/')) return '404 form_not_found'
  return operationId === 'downloadFormFile' ? '404 not_found' : undefined
}

for (const flag of featureNames) {
  test.serial(`flags: without ${flag}, only its operations are refused`, async (t) => {
    const installation = await installationOf(t)
    await setFlag(installation, flag, false)
    const { within, routes } = featureFlag(flag)
    const refused = `403 feature_disabled ${flag}`
    const belonging = new Set<string>()
    for (const operation of installation.walk) {
      const { operationId, scope, feature } = operation
      if (scope === 'operator' || operationId === 'unsubscribe') continue // belongs to another organization, or takes a form
      const special = asking[flag]?.[operationId]
      const hidden = flag === 'forms' ? hiddenAs(operation) : undefined
      if (hidden !== undefined) {
        t.is(outcomeOf(await ask(installation.rest, operation, requestOf(installation, operation))), hidden, operationId)
        continue
      }
      const isRefused = feature === flag || (within.includes(operationId) && !special)
      const outcome = outcomeOf(await ask(installation.rest, operation, requestOf(installation, operation)))
      t.is(outcome, isRefused ? refused : 'answered', operationId)
      if (special)
        t.is(outcomeOf(await special(installation, operation)), refused, `${operationId}, with the feature of the flag in the request`)
      if (isRefused || special) belonging.add(operationId)
    }
    for (const operationId of within) t.true(belonging.has(operationId), `${operationId} is an operation`)
    const isEffectOnly = routes.length + within.length + featureFlag(flag).tools.length === 0
    t.is(belonging.size === 0, isEffectOnly, 'a flag refuses nothing exactly if it declares no routes, operations and tools')
  })
}

test.serial('every authenticated operation names the flag of its path', async (t) => {
  const { walk } = await installationOf(t)
  for (const { operationId, path, scope, feature } of walk) {
    const isUnder = (route: string): boolean => path === route || path.startsWith(`${route}/`)
    const ofPath = featureNames.find((name) => featureFlag(name).routes.some(isUnder) && !featureFlag(name).always.includes(operationId))
    t.is(feature, scope === 'none' || scope === 'operator' ? undefined : ofPath, operationId)
  }
})
