/** An upgrade that is killed repeatedly: the next start continues it, and in the end all data exist once. */
import { join } from 'node:path'
import { cp, readFile } from 'node:fs/promises'
import test from '#test'
import { migrations } from '#core/migrations.ts'
import { storedTracesCounter } from '#core/tenancy/counters.ts'
import { earlierTraces } from '#core/trace/earlier-traces.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { newTraceId } from '#store/ids.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { formOf } from '#store/upgrade/store-form.ts'
import { env, type Made } from '../fixtures/stores/make.ts'
import { waiting } from '../support/waits.ts'
import { Daemon } from '../support/daemon/daemon.ts'
import { masterKey } from '../support/daemon/start-daemon.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { assertSound } from '../support/problems.ts'

const kept = new URL('../fixtures/stores/first/', import.meta.url)
const rows = 4000
const step = 400

/** Creates this number of traces in the form of an earlier release. Returns their ids and the organization. */
async function addEarlier(folder: string): Promise<{ readonly organizationId: string; readonly ids: readonly string[] }> {
  await using kv = await LevelKv.open(folder)
  const database = new Database(kv)
  const { sentTraceId } = JSON.parse(await readFile(new URL('made.json', kept), 'utf8')) as Made
  const found = await database.lookup(earlierTraces, 'id', [sentTraceId])
  if (!found) throw new Error('the store has no trace of that time')
  const { organizationId, record } = found
  const ids: string[] = []
  for (let at = 0; at < rows; at += step) {
    const change = new Change().add(storedTracesCounter(organizationId), step)
    for (let i = 0; i < step; i++) {
      const id = newTraceId()
      ids.push(id)
      const earlier: Trace = { ...record, id, status: 'canceled', outcome: 'refused', createdAt: record.createdAt + ids.length }
      change.insert(earlierTraces, organizationId, earlier)
    }
    await database.commit(change)
  }
  return { organizationId, ids }
}

test('upgrade: continues after SIGKILL at the next start without losses', async (t) => {
  await using folder = await temporaryFolder('upgrade')
  const data = join(folder.path, 'data')
  await cp(new URL('store', kept), join(data, 'store'), { recursive: true })
  const { organizationId, ids } = await addEarlier(join(data, 'store'))
  const options = { folder: folder.path, env: { ...env, POSTERN_MASTER_KEY: masterKey.toString('base64url') } }
  for (let life = 0; life < 3; life++) {
    const daemon = await Daemon.launch(options)
    await waiting('the upgrade begins, or is over', Promise.race([daemon.said(/"upgrading the store/), daemon.ready]))
    await daemon.kill()
  }
  const daemon = await Daemon.start(options)
  t.is((await daemon.stop()).code, 0)
  await using kv = await LevelKv.open(join(data, 'store'))
  const database = new Database(kv)
  await assertSound(t, { database })
  t.is((await formOf(kv)).format, migrations.length)
  const found = await database.getMany(traces, { organizationId }, ids)
  t.is(found.filter((one) => one !== undefined).length, rows, 'ledger: traces are lost')
})
