/** Certificates from a real ACME server: ordered, used by every listener, renewed in time, and kept if a renewal fails. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { once } from 'node:events'
import type { ExecutionContext } from 'ava'
import { portOf } from '../../support/daemon/daemon.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { waitFor } from '../../support/waits.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { testWith } from '../../support/peers/peers.ts'
import { makeCertificates } from '../../support/web/certificates.ts'
import { Pebble, type PebbleOptions } from './pebble.ts'
import { kinds, openAll, shownSerials, type SecuredPorts } from './shown-certificates.ts'

const test = testWith('pebble')

const names = ['mail.example.org', 'forms.example.org']
const operatorKey = `svcop_${'o'.repeat(43)}`
const minute = 60_000
const day = 24 * 3600 * 1000

interface Scene {
  readonly daemon: StartedDaemon
  readonly clock: FakeClock
  readonly ports: SecuredPorts
  /** Starts an authority without data of an earlier one. */
  authority(more?: Partial<PebbleOptions>): Promise<Pebble>
}

async function sceneOf(t: ExecutionContext, challenge: string, env: Record<string, string> = {}): Promise<Scene> {
  const folder = await temporaryFolder('acme')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const files = await makeCertificates(folder.path)
  const ports = [await programPort(), await programPort()] as const
  const clock = new FakeClock(Date.now())
  const daemon = await startDaemon(t, {
    env: {
      POSTERN_HTTPS_LISTEN: '127.0.0.1:0',
      POSTERN_OPERATOR_KEY: operatorKey,
      POSTERN_DOCTOR_BLOCKLISTS: '',
      POSTERN_ACME_CHALLENGE: challenge,
      POSTERN_ACME_TERMS: 'agreed',
      POSTERN_ACME_NAMES: names.join(','),
      POSTERN_ACME_EMAIL: 'admin@example.org',
      POSTERN_ACME_LISTEN: '127.0.0.1:0',
      POSTERN_ACME_DIRECTORY: `https://127.0.0.1:${ports[0]}/dir`,
      POSTERN_ACME_CA_FILE: files.ca,
      POSTERN_BASE_URL: 'https://mail.example.org',
      ...env,
    },
    replacements: { clock, acmePollMs: 50 },
  })
  const { https, submissions, submission, mx, acme } = daemon.addresses
  const validated = { httpPort: portOf(acme) || 1, tlsPort: portOf(https) }
  return {
    ...{ daemon, clock },
    ports: { https: portOf(https), submissions: portOf(submissions), submission: portOf(submission), mx: portOf(mx) },
    async authority(more = {}) {
      const pebble = await Pebble.start({ folder: folder.path, files, ports, ...validated, ...more }, names)
      t.teardown(() => pebble[Symbol.asyncDispose]())
      return pebble
    },
  }
}

const logged = ({ daemon }: Scene, msg: string) => daemon.log.filter((line) => line.msg === msg)
const issued = 'certificate issued; new connections use it'
const failed = 'certificate order failed; the current certificate stays in use'

/** Waits for the log line of another attempt. */
const attempted = (scene: Scene, msg: string, times: number) =>
  waitFor(`${msg} ${JSON.stringify(scene.daemon.log.slice(-3))}`, async () => (logged(scene, msg).length >= times ? true : undefined))

/** Advances the clock by minutes until an order is due. The time of an order is set just after the log line of the previous order. */
const attemptedInTime = (scene: Scene, msg: string, times: number) =>
  waitFor(`${msg} ${JSON.stringify(scene.daemon.log.slice(-3))}`, async () => {
    if (logged(scene, msg).length >= times) return true
    if (scene.daemon.log.at(-1)?.['msg'] !== 'ordering a certificate') scene.clock.advance(minute)
    return undefined
  })

/** Returns the finding of the daemon's doctor with this id. */
async function lookFor({ daemon }: Scene, id: string) {
  const { findings } = (await daemon.client(operatorKey).must('POST', '/operator/v1/doctor')) as unknown as {
    readonly findings: readonly { readonly id: string; readonly summary: string }[]
  }
  return findings.find((one) => one.id === id)
}

const readiness = async ({ daemon }: Scene) => (await daemon.rest.call('GET', '/readyz')).body as Record<string, unknown>

async function figure({ daemon }: Scene, name: string): Promise<number> {
  const text = await (await fetch(`http://${daemon.addresses.http}/metrics`)).text()
  return Number(new RegExp(`^postern_${name.replaceAll(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1])
}

test.serial('http-01: ordered for all listeners, renewed, kept if a renewal fails', async (t) => {
  const scene = await sceneOf(t, 'http-01')
  const { clock, ports, daemon } = scene
  await attempted(scene, failed, 1)
  t.regex(String(logged(scene, failed)[0]?.['reason']), /^127\.0\.0\.1:\d+ cannot be reached: connect ECONNREFUSED/)
  const [before] = new Set(await shownSerials(ports))
  t.like(await readiness(scene), { status: 'ready', warnings: ['The certificate could not be replaced; the log says why.'] })
  const kept = await openAll(ports)

  const first = await scene.authority()
  await daemon.certificates.source.reload()
  await attempted(scene, issued, 1)
  const trust = { ca: await first.root(), servername: 'forms.example.org' }
  const [serial, ...others] = [...new Set(await shownSerials(ports, trust))]
  t.deepEqual(others, [])
  t.not(serial, before)
  for (const [index, connection] of kept.entries()) t.regex(await connection.ask(), /^(HTTP\/1\.1 200|250)/, kinds[index])
  t.deepEqual([...new Set(kept.map(({ certificate }) => certificate.serialNumber))], [before])
  for (const connection of kept) connection.close()
  t.like(await readiness(scene), { status: 'ready', warnings: [] })
  const expires = await figure(scene, 'certificate_expires_timestamp_seconds')
  t.true(Math.abs(expires * 1000 - Date.now() - 90 * day) < day)

  const account = await filesOf(t, daemon)
  clock.step(55 * day)
  clock.advance(60 * minute)
  t.is(logged(scene, 'ordering a certificate').length, 2, 'not yet due')
  await first[Symbol.asyncDispose]()
  clock.step(6 * day)
  clock.advance(60 * minute)
  await attempted(scene, failed, 2)
  t.deepEqual(
    await shownSerials(ports, trust),
    kinds.map(() => String(serial)),
  )
  t.is(await figure(scene, 'certificate_orders_total{result="failed"}'), 2)

  t.like(await lookFor(scene, 'certificate.renewal_failed'), {
    severity: 'warning',
    summary: `The last order of a certificate failed. The previous certificate is served until ${new Date(expires * 1000).toISOString()}.`,
  })

  const second = await scene.authority()
  clock.advance(7 * minute)
  await attempted(scene, issued, 2)
  const [renewed] = new Set(await shownSerials(ports, { ...trust, ca: await second.root() }))
  t.not(renewed, serial)
  t.is(await lookFor(scene, 'certificate.renewal_failed'), undefined)
  t.is(account, await filesOf(t, daemon), 'account key: kept even if the authority has forgotten it')
  const elsewhere = await fetch(`http://${daemon.addresses.acme}/sign-in?x=1`, { redirect: 'manual' })
  t.deepEqual([elsewhere.status, elsewhere.headers.get('location')], [308, 'https://mail.example.org/sign-in?x=1'])
  t.is((await fetch(`http://${daemon.addresses.acme}/.well-known/acme-challenge/none`, { redirect: 'manual' })).status, 404)

  const next = await daemon.stop().then(() => daemon.again({ replacements: { clock: new FakeClock(Date.now()) } }))
  const again: SecuredPorts = {
    https: portOf(next.addresses.https),
    submissions: portOf(next.addresses.submissions),
    submission: portOf(next.addresses.submission),
    mx: portOf(next.addresses.mx),
  }
  t.deepEqual(
    await shownSerials(again),
    kinds.map(() => String(renewed)),
    'the next start uses the stored certificate and orders nothing',
  )
  t.is(next.log.filter(({ msg }) => msg === 'ordering a certificate').length, 0)
})

/** Asserts that only the owner can read the files. Returns the account key. */
async function filesOf(t: ExecutionContext, { dataDir }: StartedDaemon): Promise<string> {
  const folder = join(dataDir, 'tls', 'acme')
  const { globSync } = await import('node:fs')
  const files = globSync('*', { cwd: folder })
  t.is(files.length, 2)
  for (const file of files) t.is((await stat(join(folder, file))).mode & 0o777, 0o600, file)
  const account = JSON.parse(await readFile(join(folder, files.find((file) => file.startsWith('account')) ?? ''), 'utf8')) as {
    key: string
  }
  return account.key
}

test.serial('tls-alpn-01: the https listener answers, with an external account', async (t) => {
  const external = { 'kid-1': Buffer.alloc(32, 5).toString('base64url') }
  const scene = await sceneOf(t, 'tls-alpn-01', { POSTERN_ACME_EAB_KEY_ID: 'kid-1', POSTERN_ACME_EAB_KEY: external['kid-1'] })
  t.is(scene.daemon.addresses.acme, '')
  await attempted(scene, failed, 1)
  const pebble = await scene.authority({ external })
  scene.clock.advance(7 * minute)
  const answers = Promise.all(Array.from({ length: 20 }, () => openAll(scene.ports)))
  await attempted(scene, issued, 1)
  for (const opened of await answers)
    for (const connection of opened) {
      t.regex(await connection.ask(), /^(HTTP\/1\.1 200|250)/)
      connection.close()
    }
  t.is(new Set(await shownSerials(scene.ports, { ca: await pebble.root(), servername: 'mail.example.org' })).size, 1)
  t.regex(pebble.log.join('\n'), /set VALID by completed challenge/, 'by TLS alone: nothing listens for http-01')
  const outsider = connect({
    host: '127.0.0.1',
    port: scene.ports.https,
    ALPNProtocols: ['acme-tls/1'],
    servername: names[0],
    rejectUnauthorized: false,
  })
  const [error] = (await once(outsider, 'error')) as [NodeJS.ErrnoException]
  t.is(error.code, 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'no challenge certificate outside a validation')
})

test.serial("failed validation: keeps the certificate and logs the authority's message", async (t) => {
  const scene = await sceneOf(t, 'http-01')
  await attempted(scene, failed, 1)
  await scene.authority({ httpPort: 1 })
  scene.clock.advance(7 * minute)
  await attempted(scene, failed, 2)
  const [, line] = logged(scene, failed)
  t.regex(String(line?.['reason']), /\.example\.org|refused/)
  t.is(line?.['failures'], 2)
  const next = Date.parse(String(line?.['next_attempt_at'])) - scene.clock.now()
  t.true(next > 19 * minute && next < 25 * minute, String(next))
  scene.clock.advance(10 * minute)
  t.is(logged(scene, 'ordering a certificate').length, 2)
})

test.serial('short certificate: renewed in time; /readyz reports an expired one', async (t) => {
  const scene = await sceneOf(t, 'http-01')
  const { clock, daemon } = scene
  await attempted(scene, failed, 1)
  const authority = await scene.authority({ lifetimeSeconds: 90 })
  await daemon.certificates.source.reload()
  await attempted(scene, issued, 1)
  // the authority dates certificates by the time of the machine, which is ahead at first
  for (const times of [2, 3, 4, 5, 6, 7]) await attemptedInTime(scene, issued, times)
  await authority[Symbol.asyncDispose]()
  await attemptedInTime(scene, failed, 2)
  clock.advance(3 * minute)
  t.deepEqual((await readiness(scene))['warnings'], ['certificate.expired: The certificate has expired.'])
})
