/** A daemon without mail: its checks, alerts and other work write nothing. */
import test from '#test'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { describeKey } from '#store/tuple.ts'
import { projectDefaults } from '../../core/records.ts'
import { AlertedDaemon, chatKinds, minute } from './alerted-daemon.ts'

test('an idle daemon with 100 organizations and channels of each kind writes no row in 10 minutes', async (t) => {
  const here = await AlertedDaemon.start(t, { chats: chatKinds })
  const { database, kv, clock } = here.daemon
  for (let n = 0; n < 100; n++) {
    const [id, projectId] = [`org_idle${n}`, `prj_idle${n}`]
    const organization = { id, name: `Idle ${n}`, plan: 'enterprise' as const, defaultProjectId: projectId, createdAt: clock.now() }
    const change = new Change()
    change.insert(organizations, id, organization).insert(projects, id, { ...projectDefaults, id: projectId })
    t.true((await database.commit(change)).ok)
  }
  await here.daemon.pass(15 * minute) // all checks have run
  const rows: string[] = []
  kv.beforeWrite = ({ sets, deletes }) => {
    rows.push(...sets.map(({ key }) => describeKey(key)), ...deletes.map((key) => `- ${describeKey(key)}`))
  }
  await here.daemon.pass(10 * minute)
  kv.beforeWrite = undefined
  t.deepEqual(rows, [])
  await here.assertSound(t)
})
