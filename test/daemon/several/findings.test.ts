/** Two daemons with one database store each finding once, and those of their machines apart. */
import { hostname } from 'node:os'
import { findings, type Finding } from '#core/findings/finding.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { column } from '../../support/column.ts'
import { databasesOf, Postgresql } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { waitFor } from '../../support/waits.ts'
import { writeLastBackup } from '../../../daemon/backup/last-backup.ts'
import { severalDaemons } from './daemons.ts'

const test = testWith('postgresql')
const postgresql = databasesOf(test)
const operatorKey = `svcop_${'o'.repeat(43)}`

interface Report {
  readonly findings: readonly { readonly id: string; readonly subject: string }[]
}

test('findings: stored once by two daemons, and ended by the other one after a daemon has left', async (t) => {
  const several = await severalDaemons(t, await postgresql().database())
  // no disk has this much space, so both machines have a finding
  const env = { POSTERN_OPERATOR_KEY: operatorKey, POSTERN_DOCTOR_BLOCKLISTS: '', POSTERN_STORE_LOW_DISK_BYTES: String(2 ** 50) }
  const [a, b] = await Promise.all([several.start(env), several.start(env)])
  await a.rest.must('POST', '/v1/domains', { domain: 'site.test' })
  using askA = new RestClient(a.addresses.http, operatorKey)
  using askB = new RestClient(b.addresses.http, operatorKey)
  const look = async (operator: RestClient): Promise<readonly string[]> => {
    const { findings } = (await operator.must('POST', '/operator/v1/doctor')) as unknown as Report
    return findings.map(({ id, subject }) => `${id} ${subject}`)
  }
  await Promise.all([look(askA), look(askB), look(askA), look(askB)])
  const [atA, atB] = [await look(askA), await look(askB)]
  t.deepEqual(atA, atB)
  t.is(new Set(atA).size, atA.length)
  const ofDomain = atA.filter((name) => name.endsWith(' site.test'))
  t.is(ofDomain.length, 1, ofDomain.join())
  const ofDisk = (names: readonly string[]) => names.filter((name) => name.startsWith('disk.low '))
  t.is(ofDisk(atA).length, 2, atA.join())
  const { warnings } = (await a.rest.must('GET', '/readyz')) as { readonly warnings: readonly string[] }
  t.is(warnings.filter((warning) => warning.startsWith('disk.low: ')).length, 1)
  t.false(warnings.join().includes('site.test'))

  t.is((await b.stop()).code, 0)
  const left = await waitFor('the finding of the machine of the other daemon ends', async () => {
    const names = ofDisk(await look(askA))
    return names.length === 1 ? names : undefined
  })
  t.true(ofDisk(atA).includes(left[0] ?? ''))
})

test('findings: a backup by one machine counts for all daemons, also in metrics', async (t) => {
  const several = await severalDaemons(t, await postgresql().database())
  const env = { POSTERN_OPERATOR_KEY: operatorKey, POSTERN_DOCTOR_BLOCKLISTS: '', POSTERN_DOCTOR_TIME_SERVERS: '' }
  const [a, b] = await Promise.all([several.start(env), several.start(env)])
  const look = async (daemon: typeof a): Promise<readonly string[]> => {
    using operator = new RestClient(daemon.addresses.http, operatorKey)
    const { findings } = (await operator.must('POST', '/operator/v1/doctor')) as unknown as Report
    return findings.flatMap(({ id, subject }) => (id.startsWith('backup.') ? [`${id} ${subject}`.trim()] : []))
  }
  const ages = async (): Promise<readonly number[]> =>
    Promise.all(
      [a, b].map(async ({ rest }) => {
        const { bytes } = await rest.call('GET', '/metrics')
        return Number(/^postern_last_backup_age_seconds (\S+)$/m.exec(bytes.toString('utf8'))?.[1]?.replace('+Inf', 'Infinity'))
      }),
    )
  t.deepEqual([await look(a), await look(b)], [['backup.none'], ['backup.none']])
  t.deepEqual(await ages(), [Infinity, Infinity])
  const dayMs = 86_400_000
  const [folderA = '', folderB = ''] = several.dataDirs
  await writeLastBackup(folderA, Date.now() - 8 * dayMs)
  t.deepEqual([await look(a), await look(b)], [['backup.old'], ['backup.old']])
  await writeLastBackup(folderB, Date.now() - dayMs)
  t.deepEqual([await look(b), await look(a)], [[], []])
  for (const age of await ages()) t.true(Math.abs(age - 86_400) < 600, String(age))
})

test('findings: a database that archives its log is a backup, also in metrics', async (t) => {
  const server = await Postgresql.start(['archive_mode=on', 'archive_command=true'])
  t.teardown(() => server[Symbol.asyncDispose]())
  const archived = 'SELECT last_archived_time IS NOT NULL AS done FROM pg_stat_archiver'
  await server.query('SELECT pg_switch_wal()')
  await waitFor('the archive of a segment', async () => (await server.query(archived))[0]?.['done'] === true || undefined)
  const env = { POSTERN_STORE: await server.database(), POSTERN_OPERATOR_KEY: operatorKey, POSTERN_DOCTOR_BLOCKLISTS: '' }
  const daemon = await startDaemon(t, { env })
  const { findings: found } = (await daemon.client(operatorKey).must('POST', '/operator/v1/doctor')) as unknown as Report
  t.deepEqual(
    found.filter(({ id }) => id.startsWith('backup.')),
    [],
  )
  const { bytes } = await daemon.rest.call('GET', '/metrics')
  t.regex(bytes.toString('utf8'), /^postern_last_backup_age_seconds 0$/m)
})

test('findings: those of a machine stay open over a restart of its daemon', async (t) => {
  const database = await postgresql().database()
  // no disk has this much space, so the machine has a finding
  const env = {
    POSTERN_STORE: database,
    POSTERN_OPERATOR_KEY: operatorKey,
    POSTERN_DOCTOR_BLOCKLISTS: '',
    POSTERN_STORE_LOW_DISK_BYTES: String(2 ** 50),
  }
  const daemon = await startDaemon(t, { env })
  const full = async ({ client, database: store }: StartedDaemon): Promise<readonly Finding[]> => {
    await client(operatorKey).must('POST', '/operator/v1/doctor')
    const all = await store.all(findings, { organizationId: systemOrganizationId })
    return column(all, 'record').filter(({ kind }) => kind === 'disk.low')
  }
  const [before, ...others] = await full(daemon)
  t.deepEqual(others, [])
  t.is(before?.subject, `${hostname()} ${daemon.dataDir}`)
  await daemon.stop()
  const next = await daemon.again()
  const daemonId = next.database.daemons.id
  t.not(daemonId, before?.daemon)
  const after = await waitFor('the former process is known to have left', async () => {
    const all = await full(next)
    return all.some((one) => one.daemon === before?.daemon) ? undefined : all
  })
  t.deepEqual(after, [{ ...before, daemon: daemonId }])
})
