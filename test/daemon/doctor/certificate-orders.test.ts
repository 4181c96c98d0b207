/** A failed order of a certificate is reported by the daemon that ordered it. */
import test, { type ExecutionContext } from '#test'
import { Doctor } from '#core/doctor/doctor.ts'
import { findings } from '#core/findings/finding.ts'
import { Settle } from '#core/findings/settle.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { OneDaemon } from '#store/daemons/one-daemon.ts'
import { Database } from '#store/database.ts'
import { fileCheck, orderCheck } from '../../../daemon/doctor/process-check.ts'
import { shareBackup, sharedBackupAt, writeLastBackup } from '../../../daemon/backup/last-backup.ts'
import { dataFolder, openDaemon } from '../../support/daemon/start-daemon.ts'
import { closedPort } from '../../support/network/held-port.ts'
import { waitFor } from '../../support/waits.ts'

async function opened(t: ExecutionContext) {
  return openDaemon(t, await dataFolder(t), {
    env: {
      POSTERN_ACME_CHALLENGE: 'http-01',
      POSTERN_ACME_TERMS: 'agreed',
      POSTERN_ACME_NAMES: 'mail.example.org',
      POSTERN_ACME_DIRECTORY: `https://127.0.0.1:${await closedPort(t)}/dir`,
      POSTERN_ACME_LISTEN: '127.0.0.1:0',
      POSTERN_DOCTOR_BLOCKLISTS: '',
      POSTERN_BASE_URL: 'https://mail.example.org',
    },
  })
}

type Opened = Awaited<ReturnType<typeof opened>>

/** Subjects and states of the findings about orders. */
async function stored({ part }: Opened): Promise<readonly string[]> {
  const all = await part('database').all(findings, { organizationId: systemOrganizationId })
  return all.flatMap(({ record: { kind, subject, state } }) =>
    kind === 'certificate.renewal_failed' ? [`${subject} ${state}`.trim()] : [],
  )
}

test('certificate.renewal_failed: reported by a daemon that does not hold the shared checks', async (t) => {
  const daemon = await opened(t)
  const { source } = daemon.part('certificates')
  await source.start()
  await waitFor('the order fails', async () => daemon.log.find(({ msg }) => String(msg).startsWith('certificate order failed')))
  await daemon.part('doctor').examine()
  t.deepEqual(await stored(daemon), ['open'])
  await source.stop()
})

test('certificate.renewal_failed: another daemon ends it only after the daemon of the failed order has left', async (t) => {
  const daemon = await opened(t)
  const { clock, config, kv, part } = daemon
  const running = new Set(['dmn_a', 'dmn_b'])
  const settle = new Settle({ database: part('database'), clock, isRunning: (id) => running.has(id) })
  const doctorOf = (daemonId: string, current: { problem: string | undefined }): Doctor => {
    const database = new Database(kv, Object.assign(new OneDaemon(), { id: daemonId }))
    const checks = [orderCheck({ config, clock, daemonName: `relay ${daemonId}`, current })]
    return new Doctor({ database, clock, settle, checks, onError: (error) => t.fail(String(error)) })
  }
  const failed: { problem: string | undefined } = { problem: 'No certificate could be ordered.' }
  const [a, b] = [doctorOf('dmn_a', failed), doctorOf('dmn_b', { problem: undefined })]
  b.hold()
  await a.examine()
  await b.examine()
  t.deepEqual(await stored(daemon), ['relay dmn_a open'], 'the holder does not know of the order')
  failed.problem = undefined
  await a.examine()
  t.deepEqual(await stored(daemon), ['relay dmn_a over'])
  failed.problem = 'No certificate could be ordered.'
  await a.examine()
  running.delete('dmn_a')
  await b.examine()
  t.deepEqual(await stored(daemon), ['relay dmn_a over'])
})

test('certificate and backup: a machine at a shared store reports its certificate, and shares the time of its backup', async (t) => {
  const { clock, config, part } = await opened(t)
  const database = part('database')
  const look = { signal: new AbortController().signal, isAsked: true, openAt: new Set<string>() }
  const found = async (daemonName: string, tlsCert: string | null = config.tls.certificateFile): Promise<readonly string[]> => {
    const own = { ...config, tls: { ...config.tls, certificateFile: tlsCert, keyFile: tlsCert } }
    const seen = await fileCheck({ config: own, clock, daemonName, database }).look(look)
    return seen.found.map(({ kind, subject }) => `${kind} ${subject}`.trim()).toSorted()
  }
  t.deepEqual(await found(''), ['backup.none'])
  t.deepEqual(await found('relay a'), [], 'another machine, or the database, can make backups')
  t.is(await sharedBackupAt(database), undefined)
  t.deepEqual(await found('relay a', '/missing.pem'), ['certificate.unusable relay a'])
  const at = clock.now() - 8 * 86_400_000
  await writeLastBackup(config.dataDir, at)
  t.deepEqual(await found(''), ['backup.old'])
  t.deepEqual(await found('relay a'), [])
  t.is(await sharedBackupAt(database), at)
  await shareBackup(database, at - 1)
  t.is(await sharedBackupAt(database), at, 'an earlier backup of another machine')
})
