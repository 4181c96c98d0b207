/** A daemon without mail: its checks, alerts and other work write nothing. */
import test from '#test'
import { alertChannels, targetContext, type AlertChannel } from '#core/alerts/channels/alert-channel.ts'
import { observed } from '#core/findings/finding.ts'
import type { FindingKind } from '#core/findings/kinds.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { Change } from '#store/change.ts'
import { describeKey } from '#store/tuple.ts'
import { projectDefaults } from '../../core/records.ts'
import { AlertedDaemon, chatKinds, minute } from './alerted-daemon.ts'

/** Number of organizations with channels of each kind, as the first one has. */
const withChannels = 20

test('an idle daemon with 100 organizations and channels of each kind in 20 of them writes no row in 10 minutes', async (t) => {
  const here = await AlertedDaemon.start(t, { chats: chatKinds })
  const { database, kv, clock, part, organizationId } = here.daemon
  const { secrets } = part('core')
  const copied = (channel: AlertChannel, id: string): AlertChannel => {
    const target = secrets.open(channel.sealedTarget, targetContext(channel.id)) ?? ''
    return { ...channel, id, sealedTarget: secrets.seal(target, targetContext(id)) }
  }
  const channels = (await database.all(alertChannels, { organizationId })).map(({ record }) => record)
  t.deepEqual(new Set(channels.map(({ kind }) => kind)), new Set([...chatKinds, 'mail']))
  for (let n = 0; n < 100; n++) {
    const [id, projectId] = [`org_idle${n}`, `prj_idle${n}`]
    const organization = { id, name: `Idle ${n}`, plan: 'enterprise' as const, defaultProjectId: projectId, createdAt: clock.now() }
    const change = new Change()
    change.insert(organizations, id, organization).insert(projects, id, { ...projectDefaults, id: projectId })
    if (n < withChannels) for (const channel of channels) change.insert(alertChannels, id, copied(channel, `${channel.id}_${n}`))
    t.true((await database.commit(change)).ok)
  }
  // each organization with channels has had an alert, and has one open finding
  const settle = part('settle')
  const found = (id: string, ...kinds: readonly FindingKind[]) =>
    settle.settle({
      organizationId: id,
      check: 'test',
      observed: kinds.map((kind) => observed(kind, 'example.test', { domain: 'example.test' })),
    })
  for (let n = 0; n < withChannels; n++) await found(`org_idle${n}`, 'domain.dkim', 'domain.spf')
  await here.daemon.pass(7 * minute)
  for (let n = 0; n < withChannels; n++) await found(`org_idle${n}`, 'domain.spf')
  await here.daemon.pass(30 * minute) // all checks have run, and all messages have left
  const deliveries = await database.all(webhookDeliveries, { organizationId: 'org_idle0' })
  t.is(deliveries.length, 2 * chatKinds.length, 'the problem and its end')
  const rows: string[] = []
  kv.beforeWrite = ({ sets, deletes }) => {
    rows.push(...sets.map(({ key }) => describeKey(key)), ...deletes.map((key) => `- ${describeKey(key)}`))
  }
  await here.daemon.pass(10 * minute)
  kv.beforeWrite = undefined
  t.deepEqual(rows, [])
  await here.assertSound(t)
})
