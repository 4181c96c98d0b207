/** Organizations that no alert reaches: the operator is told of those with an owner, at bounded work. */
import test from '#test'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { keyName } from '#store/tuple.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { principal } from '../core-fixture.ts'
import { addOwner, alertsFixture, minute, refused, type AlertsFixture } from './alerts-fixture.ts'

const unreachable = async (setup: AlertsFixture): Promise<readonly string[]> =>
  (await setup.findings(systemOrganizationId))
    .filter(({ kind, state }) => kind === 'alerts.owner_unreachable' && state === 'open')
    .map(({ subject }) => subject)

test('an organization without members is reported to the operator only if it has a channel, which fails', async (t) => {
  const setup = await alertsFixture(t, { hasMail: false, hasOwner: false })
  await setup.look(refused)
  await setup.pass(2 * minute)
  t.deepEqual(await unreachable(setup), [], 'like a sandbox')
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const channel = await setup.channel({ kind: 'slack', target: { url: receiver.url } })
  await setup.pass(8 * minute)
  t.is((await unreachable(setup)).length, 1)
  await setup.channels.remove(principal, channel.id)
  await setup.pass(2 * minute)
  t.deepEqual(await unreachable(setup), [])
  await setup.fixture.assertSound(t)
})

test('a look reads one finding of the operator, however many are open', async (t) => {
  const setup = await alertsFixture(t, { hasMail: false, hasOwner: false })
  const { core, kv } = setup.fixture
  const reads: number[] = []
  for (let i = 0; i < 12; i++) {
    const { organization } = await core.organizations.create(principal, `Team ${i}`)
    await addOwner(setup.fixture, organization.id, `owner${i}@example.ch`)
    let count = 0
    kv.onLook = (keys) => {
      for (const key of keys) if (keyName(key).includes('finding')) count++
    }
    await setup.settle.settle({ organizationId: organization.id, check: 'test', observed: [{ ...refused, projectId: '' }] })
    await setup.pass(minute)
    kv.onLook = undefined
    reads.push(count)
  }
  t.is((await unreachable(setup)).length, 12)
  t.is(reads.at(-1), reads[1])
})
