/** Findings of the doctor for a store in a database, by the running daemon and by the command without a daemon. */
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { Daemon, runCommand } from '../../support/daemon/daemon.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { Postgresql } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'

const operatorKey = `svcop_${'o'.repeat(43)}`

interface Found {
  readonly id: string
  readonly summary: string
  readonly fix: string
}

/** Findings about the store. */
const ofStore = (findings: readonly Found[]): readonly Found[] => findings.filter(({ id }) => /^(?:database|objects)\./.test(id))

testWith('postgresql')('doctor: reports problems of the database and of the object store', async (t) => {
  await using postgresql = await Postgresql.start(['max_connections=20'])
  await using folder = await temporaryFolder('doctor')
  const objects = join(folder.path, 'objects')
  await mkdir(objects)
  const database = await postgresql.database()
  const env = {
    POSTERN_STORE: database,
    POSTERN_STORE_OBJECTS: `file://${objects}`,
    POSTERN_OPERATOR_KEY: operatorKey,
    POSTERN_DOCTOR_TIME_SERVERS: '',
  }
  const options = { folder: folder.path, env }
  const daemon = await Daemon.start(options)
  t.teardown(() => daemon.kill())
  using operator = new RestClient(daemon.addresses.http, operatorKey)
  const look = async (): Promise<readonly Found[]> => ofStore((await operator.must('POST', '/operator/v1/doctor'))['findings'] as Found[])
  t.deepEqual(await look(), [])
  const ask = (text: string) => postgresql.query(text, new URL(database).pathname.slice(1))
  await ask('CREATE TABLE postern_rows_restored (LIKE postern_rows INCLUDING ALL)') // as at the start of a copy
  const [forgotten, ...further] = await look()
  t.is(forgotten?.id, 'database.forgotten_copy')
  t.regex(
    String(forgotten?.summary),
    /^The table postern_rows_restored of the database at postgresql:\S+ remains from an unfinished copy of a store, with \d+ kB\.$/,
  )
  t.deepEqual(further, [])
  await ask(/DROP TABLE \w+/.exec(String(forgotten?.fix))?.[0] ?? '')
  t.deepEqual(await look(), [])
  await rename(objects, `${objects}.away`)
  await postgresql.query('ALTER SYSTEM SET fsync = off')
  await postgresql.query('SELECT pg_reload_conf()')
  await assertTroubled(t, await look())
  await rename(`${objects}.away`, objects)
  await postgresql.query('ALTER SYSTEM RESET fsync')
  await postgresql.query('SELECT pg_reload_conf()')
  t.deepEqual(await look(), [], 'solved problems are no longer reported')
  t.is((await daemon.stop()).code, 0)

  const found = await runCommand(options, 'doctor')
  t.regex(found.output, /PostgreSQL \d+\.\d+ at postgresql:\S+ accepts writes\. The object storage works\./)
  await postgresql.stopServer()
  const away = await runCommand(options, 'doctor', '--json')
  t.is(away.code, 1)
  const [one, ...others] = ofStore((JSON.parse(away.output) as { findings: Found[] }).findings)
  t.is(others.length, 0)
  t.is(one?.id, 'database.away')
  t.regex(String(one?.summary), /^No database accepts writes at postgresql:.*ECONNREFUSED/)
})

testWith('postgresql')('doctor: answers while the database is away, and stores nothing of it', async (t) => {
  await using postgresql = await Postgresql.start()
  await using folder = await temporaryFolder('doctor')
  // no disk has this much space, so a check that needs no store has a finding
  const env = {
    ...{ POSTERN_STORE: await postgresql.database(), POSTERN_OPERATOR_KEY: operatorKey, POSTERN_STORE_LOW_DISK_BYTES: String(2 ** 50) },
    ...{ POSTERN_DOCTOR_TIME_SERVERS: '', POSTERN_DOCTOR_BLOCKLISTS: '' },
  }
  const options = { folder: folder.path, env }
  const daemon = await Daemon.start(options)
  t.teardown(() => daemon.kill())
  using operator = new RestClient(daemon.addresses.http, operatorKey)
  const kinds = (report: unknown) => (report as { findings: Found[] }).findings.map(({ id }) => id)
  const stored = kinds(await operator.must('POST', '/operator/v1/doctor'))
  t.true(stored.includes('disk.low') && !stored.includes('database.away'), stored.join())
  const printed = JSON.parse((await runCommand(options, 'doctor', '--json')).output)
  t.is(kinds(printed).filter((id) => id === 'disk.low').length, 1, 'found by the command and by the daemon')

  await postgresql.stopServer('SIGQUIT')
  const [read, examined, command] = await Promise.all([
    operator.must('GET', '/operator/v1/doctor'),
    operator.must('POST', '/operator/v1/doctor'),
    runCommand(options, 'doctor', '--json'),
  ])
  for (const report of [read, examined]) {
    t.is(report['ok'], false)
    t.deepEqual(kinds(report).slice(0, 2), ['database.away', 'disk.low'])
  }
  t.is(command.code, 1)
  const shown = kinds(JSON.parse(command.output))
  for (const kind of ['database.away', 'disk.low']) t.is(shown.filter((id) => id === kind).length, 1, shown.join())
  t.false(shown.includes('daemon.not_running'), shown.join())

  await postgresql.startServer()
  t.deepEqual(kinds(await operator.must('GET', '/operator/v1/doctor')), stored)
  t.is((await daemon.stop()).code, 0)
})

async function assertTroubled(t: ExecutionContext, findings: readonly Found[]): Promise<void> {
  t.deepEqual(
    findings.map(({ id }) => id),
    ['database.unsafe', 'objects.away'],
  )
  t.regex(String(findings[0]?.summary), /runs without fsync: a crash of its machine loses mail that was acknowledged\.$/)
  t.regex(String(findings[1]?.summary), /^The folder of objects at .*ENOENT/)
}
