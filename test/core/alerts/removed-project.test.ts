/** Alerts of a deleted project: its channels are removed, and the other channels get the end of its findings before these are removed. */
import test from '#test'
import { observed } from '#core/findings/finding.ts'
import { alertChannels } from '#core/alerts/channels/alert-channel.ts'
import { projects } from '#core/tenancy/organization.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { column } from '../../support/column.ts'
import { officeOf } from '../administration/full-projects.ts'
import { organizationId, principal, projectId } from '../core-fixture.ts'
import { alertsFixture, minute, refused } from './alerts-fixture.ts'

const hour = 60 * minute
const discard = { discardQueued: true }

test('the end of findings of a deleted project reaches the channels that told them', async (t) => {
  const setup = await alertsFixture(t, { hasOwner: false })
  const { fixture } = setup
  const { projects: administered, removals } = officeOf(fixture)
  const remove = async (): Promise<void> => {
    removals.wake()
    await removals.idle()
  }
  const isLeft = async (): Promise<boolean> => (await fixture.database.get(projects, { organizationId }, 'prj_2')) !== undefined
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const [wide, own] = [await receiverOf(t), await receiverOf(t)]
  await setup.channel({ kind: 'webhook', target: { url: wide.url } })
  const { id } = await setup.channel({ kind: 'webhook', projectId: 'prj_2', target: { url: own.url } })
  const daemon = { organizationId, check: 'watch.logins', daemon: 'another' }
  await setup.settle.settle({ ...daemon, observed: [{ ...refused, subject: 'dst_2', projectId: 'prj_2' }] })
  await setup.look(observed('webhook.failing', 'whk_1', {}, projectId), observed('domain.pending', 'a.example', {}, 'prj_2'))
  await setup.pass(2 * minute)
  t.deepEqual([wide.received.length, own.received.length], [1, 1])
  await administered.remove(principal, 'prj_2', discard)
  await remove()
  const seen = async (): Promise<string[]> => (await setup.findings()).map(({ subject, state }) => `${subject} ${state}`).toSorted()
  t.deepEqual(await seen(), ['dst_2 over', 'whk_1 open'], 'no channel tells a notice')
  t.deepEqual(
    column(await fixture.database.all(alertChannels, { organizationId }), 'record').filter((one) => one.id === id),
    [],
  )
  t.true(await isLeft())
  await setup.pass(12 * minute)
  t.is(wide.received.length, 2)
  t.regex(wide.received[1]?.body ?? '', /"over":\[\{[^\]]*login_refused/)
  await remove()
  t.deepEqual(await seen(), ['whk_1 open'])
  t.false(await isLeft())
  t.is(own.received.length, 1)
  await fixture.assertSound(t)
})

test('a channel that tells no end keeps a deleted project for a day at most', async (t) => {
  const setup = await alertsFixture(t, { hasOwner: false })
  const { fixture } = setup
  const { projects: administered, removals } = officeOf(fixture)
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const wide = await receiverOf(t)
  const { id } = await setup.channel({ kind: 'webhook', target: { url: wide.url } })
  await setup.look({ ...refused, projectId: 'prj_2' })
  await setup.pass(2 * minute)
  await setup.channels.update(principal, id, { enabled: false })
  await administered.remove(principal, 'prj_2', discard)
  const left: number[] = []
  for (const hours of [0, 23, 2]) {
    await setup.pass(hours * hour, hour)
    removals.wake()
    await removals.idle()
    left.push((await setup.findings()).length)
  }
  t.deepEqual(left, [1, 1, 0])
  t.is(await fixture.database.get(projects, { organizationId }, 'prj_2'), undefined)
  await fixture.assertSound(t)
})
