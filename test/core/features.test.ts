import test from '#test'
import { featureFlag, featureNames } from '#config/plans/features.ts'
import { planNames, type PlanName } from '#config/plans/plans.ts'
import { featureBar, requireFlag } from '#core/plan/features.ts'

/** Of the specification, by what a flag needs of a plan; what needs nothing is open to all. */
const plansWith: Readonly<Record<string, readonly PlanName[]>> = {
  tracking: ['basic', 'pro', 'enterprise'],
  bulkReplay: ['pro', 'enterprise'],
  subProjects: ['pro', 'enterprise'],
}

const everythingOn = Object.fromEntries(featureNames.map((name) => [name, true]))

test('A feature needs a plan that includes it, whatever its flag says', (t) => {
  for (const feature of featureNames) {
    const open = planNames.filter((plan) => featureBar({ plan, flags: everythingOn }, feature) !== 'plan')
    const { plan = 'none' } = featureFlag(feature)
    t.deepEqual(open, [...(plansWith[plan] ?? planNames)], feature)
  }
})

test('A flag that is off bars its own feature and no other', (t) => {
  for (const feature of featureNames) {
    const settings = { plan: 'pro' as const, flags: { ...everythingOn, [feature]: false } }
    t.deepEqual(
      featureNames.filter((one) => featureBar(settings, one) === 'flag'),
      [feature],
    )
    t.throws(() => requireFlag(settings, feature), { code: 'feature_disabled' })
  }
})

test('A flag that an organization says nothing of has its default', (t) => {
  t.deepEqual(
    featureNames.filter((one) => featureBar({ plan: 'enterprise' }, one) === 'flag'),
    ['bounce_auto_suppress'],
  )
})

test('An override gives and takes away what the plan does not say', (t) => {
  t.is(featureBar({ plan: 'free', overrides: { tracking: true } }, 'verp'), undefined)
  t.is(featureBar({ plan: 'pro', overrides: { bulkReplay: false } }, 'bulk_replay'), 'plan')
})
