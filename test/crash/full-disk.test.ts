/** A full disk and a limit on the file size: no acknowledged mail is lost, and refusals have clear messages. */
import { execFile } from 'node:child_process'
import { mkdir, open, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from '#test'
import { waitFor } from '../support/waits.ts'
import { Daemon, newAdminKey, portOf, runCommand, type DaemonOptions } from '../support/daemon/daemon.ts'
import { catchAllInbox, makeDestination, makeLogin, makeRoute, type Login } from '../support/daemon/provision.ts'
import { LinkLost, SmtpClient } from '../support/smtp/smtp-client.ts'
import { replyText, traceIdOf } from '../support/smtp/smtp-replies.ts'
import { testIf } from '../support/peers/peers.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { letterOf } from './letters.ts'
import { assertVerified } from '../support/problems.ts'

const run = promisify(execFile)
const mebibyte = 2 ** 20
const sender = 'a@capture.test'
const adminKey = newAdminKey()

/** Containers often lack the right to mount; the second test does not need it. */
const hasMount = await canMount().then(
  () => true,
  () => false,
)
const mountable = testIf(hasMount, 'the right to mount a file system')

/** Results for the clients: trace ids that must exist, and the first refusal. */
interface Told {
  readonly acked: string[]
  refusal?: string
}

mountable('full disk: 452 and 503, no acknowledged mail lost, recovery with free space', async (t) => {
  await using folder = await temporaryFolder('full')
  await using disk = await smallDisk(join(folder.path, 'disk'), 96)
  // A disk limit of 4 MiB makes the daemon refuse mail before writes fail. The second half of the test removes this limit.
  const small = { POSTERN_STORE_LOW_DISK_BYTES: String(4 * mebibyte), POSTERN_STORE_BALLAST_BYTES: String(2 * mebibyte) }
  const options: DaemonOptions = { folder: folder.path, dataDir: join(disk.path, 'data'), env: small }
  const told: Told = { acked: [] }
  {
    await using daemon = await Daemon.start(options, adminKey)
    const login = await setUp(daemon)
    await using session = await openSession(daemon, login)
    await session.sendUntilRefused(told, 20)
    t.is(told.refusal, undefined)
    await disk.fill(3 * mebibyte)
    // the daemon checks once a second, and a fast machine could fill the disk in that time; an invalid message writes nothing
    await waitFor('the daemon has checked the disk', async () => ((await postNothing(daemon)).status === 503 ? true : undefined))
    await session.sendUntilRefused(told, 5000)
    t.regex(String(told.refusal), /^452 4\.3\.1 /)
    await t.throwsAsync(openSession(daemon, login), { message: /421 4\.3\.\d / })
    t.is((await post(daemon)).status, 503)
    t.is((await daemon.rest.call('GET', `/v1/traces/${String(told.acked[0])}`)).status, 200, 'ledger: an acknowledged trace is lost')
    await disk.free()
    await waitFor('service after there is room', async () => ((await post(daemon)).status === 200 ? true : undefined))
    await daemon.kill()
  }
  await assertKept(t, options, told)
  await fillWhileItWrites(t, { options: { ...options, env: { ...small, POSTERN_STORE_LOW_DISK_BYTES: '0' } }, disk, told })
})

mountable('full disk: commands open the store of a stopped daemon, and doctor asks for room', async (t) => {
  await using folder = await temporaryFolder('full-stopped')
  await using disk = await smallDisk(join(folder.path, 'disk'), 96)
  const env = { POSTERN_STORE_LOW_DISK_BYTES: String(4 * mebibyte), POSTERN_STORE_BALLAST_BYTES: String(2 * mebibyte) }
  const options: DaemonOptions = { folder: folder.path, dataDir: join(disk.path, 'data'), env }
  for (const command of [['login-link', 'ada@example.com'], ['verify'], ['backup', join(folder.path, 'saved.backup')]]) {
    {
      await using daemon = await Daemon.start(options, adminKey)
      t.is((await post(daemon)).status, 200)
      await daemon.kill()
    }
    await disk.fill(0)
    const { output, code } = await runCommand(options, 'doctor')
    t.is(code, 1)
    t.regex(output, /has 0 MiB free; below 4 MiB no mail is accepted\. Make room for at least 4 MiB /)
    t.deepEqual(await readdir(join(disk.path, 'data')).then((names) => names.filter((name) => name.startsWith('.'))), [])
    const done = await runCommand(options, ...command)
    t.is(done.code, 0, done.output)
    await disk.free()
  }
})

test('failed write: the daemon stops and keeps all acknowledged mail', async (t) => {
  await using folder = await temporaryFolder('limit')
  const options: DaemonOptions = { folder: folder.path }
  const told: Told = { acked: [] }
  {
    await using daemon = await Daemon.start(options, adminKey)
    const login = await setUp(daemon)
    await using session = await openSession(daemon, login)
    await session.sendUntilRefused(told, 20)
    t.is(told.acked.length, 20)
    await run('prlimit', ['--pid', String(daemon.addresses.pid), `--fsize=${String(mebibyte / 4)}`])
    await session.sendUntilRefused(told, 2000)
    t.regex(String(told.refusal), /^451 4\.3\.2 /, 'no file may grow beyond 256 KiB, and a message that is not stored is refused')
    const exit = await daemon.exited
    t.is(exit.code, 70, daemon.log.slice(-1500))
  }
  await assertKept(t, options, told)
})

/** The disk fills up under load without a disk limit: a write fails, the process exits, nothing is lost. */
async function fillWhileItWrites(
  t: ExecutionContext,
  { options, disk, told }: { options: DaemonOptions; disk: SmallDisk; told: Told },
): Promise<void> {
  {
    await using daemon = await Daemon.start(options, adminKey)
    await using session = await openSession(daemon, await loginOf(daemon))
    await disk.fill(mebibyte / 2)
    await session.sendUntilRefused(told, 5000)
    t.not(told.refusal, undefined, 'the disk has no room, yet everything was acknowledged')
    await disk.free()
    await daemon.kill()
  }
  await assertKept(t, options, told)
}

async function setUp(daemon: Daemon): Promise<Login> {
  const sandbox = await makeDestination(daemon.rest, { name: 'sandbox', port: 25, mode: 'sandbox' })
  await makeRoute(daemon.rest, sandbox)
  return makeLogin(daemon.rest, sandbox)
}

async function loginOf(daemon: Daemon): Promise<Login> {
  for await (const destination of daemon.rest.rows('/v1/destinations')) return makeLogin(daemon.rest, String(destination['id']))
  throw new Error('the destination is gone')
}

interface Session extends AsyncDisposable {
  /** Sends until a message is not acknowledged, at most `most` messages. */
  sendUntilRefused: (told: Told, most: number) => Promise<void>
}

/** Rejects with the daemon's message if it accepts no session. */
async function openSession(daemon: Daemon, { username, password }: Login): Promise<Session> {
  const client = await SmtpClient.connect({ port: portOf(daemon.addresses.submission[0]) })
  await client.authenticate(username, password)
  const to = ['b@inbox.test']
  const content = letterOf({ marker: 'mk-disk', size: 2048 }, sender, to)
  return {
    sendUntilRefused: async (told, most) => {
      delete told.refusal
      try {
        for (let i = 0; i < most && told.refusal === undefined; i++) {
          const { accepted, reply } = await client.send({ from: sender, to, content })
          if (accepted) told.acked.push(String(traceIdOf(reply)))
          else told.refusal = replyText(reply)
        }
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        told.refusal = error.message
      }
    },
    [Symbol.asyncDispose]: () => client.quit(),
  }
}

const post = (daemon: Daemon): ReturnType<Daemon['rest']['call']> =>
  daemon.rest.call('POST', '/v1/messages', { from: sender, to: 'b@inbox.test', subject: 'room?', text: 'room?' })

const postNothing = (daemon: Daemon): ReturnType<Daemon['rest']['call']> => daemon.rest.call('POST', '/v1/messages', {})

/** Asserts that the next run has every acknowledged message in its trace and inbox, serves, and has a consistent store. */
async function assertKept(t: ExecutionContext, options: DaemonOptions, { acked }: Told): Promise<void> {
  await using daemon = await Daemon.start(options, adminKey)
  const captured = new Set<string>()
  for await (const row of daemon.rest.rows(`/v1/inboxes/${await catchAllInbox(daemon.rest)}/messages`))
    captured.add(String(row['trace_id']))
  const lost = acked.filter((traceId) => !captured.has(traceId))
  t.deepEqual(lost.slice(0, 5), [], `ledger: ${String(lost.length)} of ${String(acked.length)} acknowledged messages are lost`)
  t.is((await daemon.rest.call('GET', `/v1/traces/${String(acked.at(-1))}`)).status, 200, 'ledger: an acknowledged trace is lost')
  t.is((await post(daemon)).status, 200)
  t.is((await daemon.stop()).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
}

interface SmallDisk extends AsyncDisposable {
  readonly path: string
  /** Writes a file that leaves `room` octets free. */
  fill: (room: number) => Promise<void>
  free: () => Promise<void>
}

async function smallDisk(path: string, sizeMebibytes: number): Promise<SmallDisk> {
  await mkdir(path)
  await run('mount', ['-t', 'tmpfs', '-o', `size=${String(sizeMebibytes)}m`, 'tmpfs', path])
  const filler = join(path, 'filler')
  return {
    path,
    fill: async (room) => {
      const { bavail, bsize } = await statfs(path)
      await using file = await open(filler, 'a')
      await file.appendFile(Buffer.alloc(Math.max(0, bavail * bsize - room)))
    },
    free: () => rm(filler, { force: true }),
    [Symbol.asyncDispose]: async () => void (await run('umount', ['-l', path])),
  }
}

async function canMount(): Promise<void> {
  await using folder = await temporaryFolder('mount')
  await using _ = await smallDisk(join(folder.path, 'disk'), 1)
}
