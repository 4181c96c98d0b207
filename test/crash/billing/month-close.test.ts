/** Months are closed while the daemon is killed repeatedly: one invoice per organization, and numbers without gaps. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test from '#test'
import { organizations } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { Daemon, runCommand } from '../../support/daemon/daemon.ts'
import { openStoreOf } from '../../support/daemon/store-of-test.ts'
import { Seeded, seedOf } from '../../support/seeded.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { assertVerified } from '../../support/problems.ts'

const count = 250
const lives = 4
const operatorKey = `svcop_${'o'.repeat(43)}`
const close = '/operator/v1/invoices/close'
const idOf = (i: number): string => `org_9${String(i).padStart(4, '0')}`

/** Organizations created before last month. */
async function addOrganizations(dataDir: string): Promise<void> {
  await using kv = await openStoreOf(dataDir)
  const database = new Database(kv)
  const change = new Change()
  for (let i = 0; i < count; i++) {
    const facts = { id: idOf(i), name: `Shop ${i}`, plan: i % 3 === 0 ? ('free' as const) : ('basic' as const), createdAt: 0 }
    change.insert(organizations, idOf(i), { ...facts, defaultProjectId: 'prj_1' })
  }
  await database.commit(change)
}

const operatorOf = ({ addresses }: Daemon): RestClient => new RestClient(addresses.http, operatorKey)

/** The month before this one, in UTC. */
function lastMonth(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7)
}

test('month close with kills: one invoice per organization, no gap in the numbers', async (t) => {
  const seed = seedOf(1)
  t.log(`seed ${seed}`)
  const random = new Seeded(seed)
  await using folder = await temporaryFolder('month-close')
  const options = { folder: folder.path, env: { POSTERN_OPERATOR_KEY: operatorKey, POSTERN_STORE_BALLAST_BYTES: '0' } }
  let daemon = await Daemon.start(options)
  t.teardown(() => daemon.kill())
  await daemon.stop()
  await addOrganizations(join(folder.path, 'data'))
  const period = lastMonth()
  let interrupted = 0
  daemon = await Daemon.start(options, daemon.adminKey)
  for (let life = 0; life < lives; life++) {
    const closing = operatorOf(daemon)
      .call('POST', close, { period })
      .then(
        () => 'done',
        () => 'cut',
      )
    const outcome = await Promise.race([closing, pause(random.between(20, 400)).then(() => 'killed')])
    await daemon.kill()
    await closing
    if (outcome === 'killed') interrupted++
    daemon = await Daemon.start(options, daemon.adminKey)
  }
  const operator = operatorOf(daemon)
  let last = await operator.must('POST', close, { period })
  while (last['is_complete'] !== true) last = await operator.must('POST', close, { period }) // a request has a time limit
  t.is(last['none'], 1, 'the first organization was not there last month')
  t.is(Number(last['closed']) + Number(last['already']), count)
  const numbers: string[] = []
  const billed = new Set<string>()
  for await (const row of operator.rows(`/operator/v1/invoices?period=${period}`, 200)) {
    numbers.push(String(row['number']).slice(-6))
    billed.add(String(row['organization_id']))
  }
  t.deepEqual(
    numbers,
    numbers.map((_, i) => String(i + 1).padStart(6, '0')),
    'ledger: numbers without gaps',
  )
  t.is(numbers.length, count, 'ledger: as many invoices as organizations')
  t.is(billed.size, count, 'ledger: one invoice for each organization')
  t.log(`${interrupted} of ${lives} runs ended during the close; the last run closed ${String(last['closed'])} invoices`)
  await daemon.stop()
  assertVerified(t, await runCommand(options, 'verify'))
})
