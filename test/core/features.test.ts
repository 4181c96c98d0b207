import test from '#test'
import { featureFlag, featureNames } from '#config/plans/features.ts'
import { planNames, type PlanName } from '#config/plans/plans.ts'
import { featureBar, requireFlag } from '#core/plan/features.ts'

/** Plans that a flag requires by the specification; other flags are open to all plans. */
const plansWith: Readonly<Record<string, readonly PlanName[]>> = {
  tracking: ['basic', 'pro', 'enterprise'],
  bulkReplay: ['pro', 'enterprise'],
  subProjects: ['pro', 'enterprise'],
}

const everythingOn = Object.fromEntries(featureNames.map((name) => [name, true]))

test('feature: requires a plan that includes it, regardless of its flag', (t) => {
  for (const feature of featureNames) {
    const open = planNames.filter((plan) => featureBar({ plan, flags: everythingOn }, feature) !== 'plan')
    const { plan = 'none' } = featureFlag(feature)
    t.deepEqual(open, [...(plansWith[plan] ?? planNames)], feature)
  }
})

test('feature: a flag that is off disables only its own feature', (t) => {
  for (const feature of featureNames) {
    const settings = { plan: 'pro' as const, flags: { ...everythingOn, [feature]: false } }
    t.deepEqual(
      featureNames.filter((one) => featureBar(settings, one) === 'flag'),
      [feature],
    )
    t.throws(() => requireFlag(settings, feature), { code: 'feature_disabled' })
  }
})

test('feature: an unset flag has its default', (t) => {
  t.deepEqual(
    featureNames.filter((one) => featureBar({ plan: 'enterprise' }, one) === 'flag'),
    ['bounce_auto_suppress'],
  )
})

test('feature: an override grants and removes features regardless of the plan', (t) => {
  t.is(featureBar({ plan: 'free', overrides: { tracking: true } }, 'verp'), undefined)
  t.is(featureBar({ plan: 'pro', overrides: { bulkReplay: false } }, 'bulk_replay'), 'plan')
})
