import test from 'ava'
import { featureDefaults, type Feature } from '#config/features.ts'
import { planNames } from '#config/plans.ts'
import { featureBar } from '#core/features.ts'

const features = Object.keys(featureDefaults) as Feature[]

test('A feature needs a plan that includes it, whatever its flag says', (t) => {
  const open = planNames.filter((plan) => features.every((feature) => featureBar({ plan }, feature) === undefined))
  t.deepEqual(open, ['basic', 'pro', 'enterprise'])
  for (const plan of ['anonymous', 'free'] as const)
    for (const feature of features) t.is(featureBar({ plan, flags: { [feature]: true } }, feature), 'plan')
})

test('A flag that is off bars its own feature and no other', (t) => {
  for (const feature of features) {
    const flags = { [feature]: false }
    t.deepEqual(
      features.filter((one) => featureBar({ plan: 'pro', flags }, one) === 'flag'),
      [feature],
    )
  }
})
