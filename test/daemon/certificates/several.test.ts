/**
 * Daemons with one database and a real ACME server: one orders for all, each of them answers the challenge, and all use the certificate.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import type { ExecutionContext } from 'ava'
import { Daemon, newAdminKey, portOf } from '../../support/daemon/daemon.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { Front } from '../../support/network/front.ts'
import { programPort } from '../../support/network/program-port.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { testWith } from '../../support/peers/peers.ts'
import { databasesOf } from '../../support/peers/postgresql.ts'
import { makeCertificates, type CertificateFiles } from '../../support/web/certificates.ts'
import { Pebble } from './pebble.ts'
import { shownSerials } from './shown-certificates.ts'

const test = testWith('pebble', 'postgresql')
const postgresql = databasesOf(test)

const names = ['mail.example.org', 'forms.example.org']
const day = 24 * 3600 * 1000

interface Scene {
  /** Settings of all daemons. */
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly files: CertificateFiles
  readonly ports: readonly [number, number]
  start(): Promise<{ readonly daemon: StartedDaemon; readonly clock: FakeClock }>
}

async function sceneOf(t: ExecutionContext, challenge: 'http-01' | 'tls-alpn-01', store: string): Promise<Scene> {
  const folder = await temporaryFolder('acme')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const files = await makeCertificates(folder.path)
  const ports = [await programPort(), await programPort()] as const
  const env = {
    POSTERN_STORE: store,
    POSTERN_HTTPS_LISTEN: '127.0.0.1:0',
    POSTERN_ACME_CHALLENGE: challenge,
    POSTERN_ACME_TERMS: 'agreed',
    POSTERN_ACME_NAMES: names.join(','),
    POSTERN_ACME_LISTEN: '127.0.0.1:0',
    POSTERN_ACME_DIRECTORY: `https://127.0.0.1:${ports[0]}/dir`,
    POSTERN_ACME_CA_FILE: files.ca,
    POSTERN_BASE_URL: 'https://mail.example.org',
  }
  const start = async (): ReturnType<Scene['start']> => {
    const clock = new FakeClock(Date.now())
    return { clock, daemon: await startDaemon(t, { env, replacements: { clock, acmePollMs: 50 } }) }
  }
  return { env, folder: folder.path, files, ports, start }
}

const saidBy = ({ log }: StartedDaemon, msg: RegExp): number => log.filter((line) => msg.test(line.msg)).length

/** Returns the serial number that all listeners of the daemon use. */
async function serialOf({ addresses: { https, submissions, submission, mx } }: StartedDaemon, trust?: ConnectionOptions): Promise<string> {
  const ports = { https: portOf(https), submissions: portOf(submissions), submission: portOf(submission), mx: portOf(mx) }
  const shown = await shownSerials(ports, trust)
  return [...new Set(shown)].join(' ')
}

interface Issued {
  readonly a: StartedDaemon
  readonly b: StartedDaemon
  readonly clock: FakeClock
  readonly pebble: Pebble
  readonly serial: string
}

/** Two daemons: the first orders, and the authority validates at the other. */
async function issuedTo(t: ExecutionContext, { start, folder, files, ports }: Scene): Promise<Issued> {
  const a = (await start()).daemon
  await waitFor('the first order has failed', async () => saidBy(a, /^certificate order failed/) > 0)
  const { daemon: b, clock } = await start()
  const led = { httpPort: portOf(b.addresses.acme) || 1, tlsPort: portOf(b.addresses.https) }
  const pebble = await Pebble.start({ folder, files, ports, ...led }, names)
  t.teardown(() => pebble[Symbol.asyncDispose]())
  await b.certificates.source.reload()
  const serial = await waitFor('both daemons serve the certificate', async () => {
    if (saidBy(a, /^certificate order failed/) > 1) throw new Error(JSON.stringify(a.log.at(-1)))
    const [one, two] = [await serialOf(a), await serialOf(b)]
    return one === two ? one : undefined
  })
  t.is(saidBy(a, /^certificate issued/), 1)
  t.is(saidBy(b, /^ordering a certificate/), 0)
  return { a, b, clock, pebble, serial }
}

test.serial('several daemons: one orders, another answers, all use it, the next one renews', async (t) => {
  const scene = await sceneOf(t, 'http-01', await postgresql().database())
  const { a, b, clock, pebble, serial } = await issuedTo(t, scene)
  t.is((await fetch(`http://${b.addresses.acme}/.well-known/acme-challenge/none`)).status, 404)
  await a.stop()
  clock.step(61 * day)
  await waitFor('the other daemon has renewed the certificate', async () => {
    clock.advance(3_600_000) // it orders after it holds the lease
    return (await serialOf(b)) === serial ? undefined : true
  })
  const kept = join(b.dataDir, 'tls', 'acme')
  t.deepEqual(existsSync(kept) ? readdirSync(kept) : [], ['certificate.json'], 'the account is in the database')
  t.is(pebble.log.filter((line) => /There are now \d+ accounts/.test(line)).length, 1)
  const { daemon: c } = await scene.start()
  const now = await serialOf(c, { ca: await pebble.root(), servername: 'mail.example.org' })
  t.not(now, serial, 'a new daemon starts with the latest certificate')
  t.is(saidBy(c, /^ordering a certificate/), 0)
})

test.serial('tls-alpn-01: any daemon answers the authority', async (t) => {
  const { serial, pebble } = await issuedTo(t, await sceneOf(t, 'tls-alpn-01', await postgresql().database()))
  t.not(serial, '')
  t.regex(pebble.log.join('\n'), /set VALID by completed challenge/)
})

test.serial('killed order: the next daemon orders once under the same account', async (t) => {
  const { env, folder, files, ports } = await sceneOf(t, 'http-01', await postgresql().database())
  const key = newAdminKey()
  const start = async (name: string): Promise<Daemon> => {
    const settings = { ...env, POSTERN_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'), POSTERN_STORE_BALLAST_BYTES: '0' }
    const daemon = await Daemon.start({ folder: join(folder, name), env: settings }, key)
    t.teardown(() => daemon[Symbol.asyncDispose]())
    return daemon
  }
  const a = await start('a')
  await waiting('the first order has failed', a.said(/certificate order failed/))
  const b = await start('b')
  await using front = await Front.silent()
  const pebble = await Pebble.start({ folder, files, ports, httpPort: front.port, tlsPort: 1 }, names)
  t.teardown(() => pebble[Symbol.asyncDispose]())
  process.kill(b.addresses.pid, 'SIGHUP')
  await waiting('the authority checks the challenge', front.reached()) // and gets no response yet
  await waiting('the log of the order is written', a.said(/ordering a certificate[^]*ordering a certificate/))
  await a.kill()
  front.forward(portOf(b.addresses.acme[0]))
  await waiting('the other daemon has the certificate', b.said(/certificate issued/))
  const lines = (text: RegExp, of: readonly string[]): number => of.filter((line) => text.test(line)).length
  t.deepEqual(
    [a, b].map(({ log }) => lines(/ordering a certificate/, log.split('\n'))),
    [2, 1],
    'its first one failed, as there was no authority',
  )
  t.is(lines(/There are now \d+ accounts/, pebble.log), 1)
  t.is(lines(/Added order/, pebble.log), 2)
  t.is(lines(/Issued certificate serial/, pebble.log), 1)
})

test.serial('rolling replacement: orders stay within the limit of the authority', async (t) => {
  const scene = await sceneOf(t, 'http-01', await postgresql().database())
  const daemons: StartedDaemon[] = []
  for (let at = 0; at < 6; at++) {
    const { daemon } = await scene.start() // no authority is running
    daemons.push(daemon)
    await waitFor(
      'the turn of the daemon is over',
      async () => saidBy(daemon, /^certificate order failed|^limit of certificate orders/) > 0 || undefined,
    )
    if (at < 5) await daemon.stop()
  }
  t.deepEqual(
    daemons.map((daemon) => saidBy(daemon, /^ordering a certificate/)),
    [1, 1, 1, 1, 0, 0],
  )
  const [last] = daemons.slice(-1)
  await last?.certificates.source.reload()
  t.is(last && saidBy(last, /^ordering a certificate/), 1, 'a person may')
})
