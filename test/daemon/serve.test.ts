/** Starts that must fail: their output, the stored data and the exit code. */
import { mkdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { Daemon, portOf, runCommand } from '../support/daemon/daemon.ts'
import { waitFor, waiting } from '../support/waits.ts'
import { RestClient } from '../support/daemon/rest.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { listenIn } from '../support/web/listen.ts'
import { assertVerified } from '../support/problems.ts'

/** Removes the administrator's key of the tests, so that the daemon creates one. */
const ownKey = { POSTERN_ADMIN_KEY: '', POSTERN_LOG_LEVEL: 'warn' }

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await temporaryFolder('serve')
  t.teardown(() => folder[Symbol.asyncDispose]())
  return folder.path
}

/** Follows the printed link like a browser. */
async function becomeOwner(daemon: Daemon): Promise<void> {
  const [link = ''] = /http:\/\/\S+\/sign-in\/link\/[\w-]{43}/.exec(daemon.log) ?? []
  const headers = { origin: new URL(link).origin }
  const body = new URLSearchParams({ email: 'olga@example.ch' })
  await fetch(link, { method: 'POST', body, redirect: 'manual', headers })
}

/** Runs a start that must fail. */
const failing = (folder: string, env: Record<string, string> = {}, dataDir = join(folder, 'data')) =>
  waiting('the start fails', runCommand({ folder, dataDir, env: { ...ownKey, ...env } }, 'serve'))

async function firstLife(t: ExecutionContext, folder: string, env: Record<string, string> = {}): Promise<void> {
  const daemon = await Daemon.start({ folder, env })
  t.teardown(() => daemon[Symbol.asyncDispose]())
  t.is((await daemon.stop()).code, 0, daemon.log)
}

test('serve(): prints key, login and link until there is an owner, not if a port fails', async (t) => {
  const folder = await folderOf(t)
  const port = await listenIn(t, createServer())
  const first = await failing(folder, { POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` })
  t.is(first.code, 1)
  t.notRegex(first.output, /svckey_|sign-in/, 'a failed start prints no access')
  t.regex(
    first.output,
    new RegExp(`^127\\.0\\.0\\.1:${port} \\(POSTERN_HTTP_LISTEN\\) is in use by .+; stop it or set another address\\.$`, 'm'),
  )
  t.notRegex(first.output, /\n +at /)

  const shown: string[] = []
  for (const _ of [1, 2]) {
    await using daemon = await Daemon.start({ folder, env: ownKey })
    const [key = ''] = /svckey_[A-Za-z0-9_-]{43}/.exec(daemon.log) ?? []
    const [login = ''] = /user {6}smtp_\w+\n {2}password {2}\w+/.exec(daemon.log) ?? []
    shown.push(`${key} ${login}`)
    t.true(daemon.log.includes('\nEach start prints the same key and login, and a new link, until the service has an owner.\n'))
    t.true(daemon.log.includes(`port      ${String(portOf(daemon.addresses.submission[0]))}\n`), daemon.log)
    using rest = new RestClient(daemon.addresses.http, key)
    t.is((await rest.call('GET', '/v1/destinations')).status, 200)
    t.is((await daemon.stop()).code, 0)
  }
  t.is(shown[0], shown[1])
  t.regex(shown[0] ?? '', /^svckey_\S+ user/)

  await using daemon = await Daemon.start({ folder, env: ownKey })
  await becomeOwner(daemon)
  t.is((await daemon.stop()).code, 0)
  await using owned = await Daemon.start({ folder, env: ownKey })
  t.notRegex(owned.log, /svckey_|smtp_|sign-in/)
})

test('serve(): names the setting of an SMTP port in use', async (t) => {
  const folder = await folderOf(t)
  const port = await listenIn(t, createServer())
  const { code, output } = await failing(folder, { POSTERN_SUBMISSIONS_LISTEN: `127.0.0.1:${port}` })
  t.is(code, 1)
  t.regex(output, new RegExp(`^127\\.0\\.0\\.1:${port} \\(POSTERN_SUBMISSIONS_LISTEN\\) is in use by `, 'm'))
  t.notRegex(output, /\n +at /)
})

test('serve(): creates no new master key for existing data', async (t) => {
  const folder = await folderOf(t)
  await firstLife(t, folder)
  const path = join(folder, 'data', 'master.key')
  await rm(path)
  const { code, output } = await failing(folder)
  t.is(code, 78)
  t.is(
    output,
    `The master key is missing, but ${join(folder, 'data')} holds data written with one; restore ${path} or set POSTERN_MASTER_KEY.\n`,
  )
  await t.throwsAsync(stat(path), { code: 'ENOENT' })
})

test('serve() refuses another master key than the one the data was written with', async (t) => {
  const folder = await folderOf(t)
  await firstLife(t, folder, { POSTERN_MASTER_KEY: 'a1'.repeat(32) })
  const { code, output } = await failing(folder, { POSTERN_MASTER_KEY: 'b2'.repeat(32) })
  t.is(code, 78)
  t.is(
    output,
    `The master key is not the one this data was written with; restore ${join(folder, 'data', 'master.key')} or POSTERN_MASTER_KEY.\n`,
  )
  await firstLife(t, folder, { POSTERN_MASTER_KEY: 'a1'.repeat(32) })
  assertVerified(t, await runCommand({ folder, env: { POSTERN_MASTER_KEY: 'a1'.repeat(32) } }, 'verify'))
})

test('serve(): names the process that uses the data folder', async (t) => {
  const folder = await folderOf(t)
  await using daemon = await Daemon.start({ folder })
  const { code, output } = await failing(folder)
  t.is(code, 1)
  const { pid } = daemon.addresses
  const place = join(folder, 'data', 'store')
  const program = basename(await readlink(`/proc/${pid}/exe`))
  t.is(output, `The data folder ${place} is in use by ${program} (pid ${pid}). Stop it, or set POSTERN_DATA_DIR to another folder.\n`)
})

test('serve(): stops when its terminal is closed', async (t) => {
  const folder = await folderOf(t)
  const wrapper = ['sh', '-c', 'exec script -qfec "exec $*" /dev/null', 'sh']
  await using daemon = await Daemon.start({ folder, wrapper })
  const { pid } = daemon.addresses
  const [, terminal] = /^PPid:\s+(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  process.kill(Number(terminal), 'SIGKILL')
  const readyFile = join(folder, 'ready', 'addresses.json')
  await waitFor('the daemon stops', () =>
    stat(readyFile).then(
      () => false,
      () => true,
    ),
  )
  await firstLife(t, folder)
})

test('npm start: a stop by a supervisor ends it with 0 and stops the daemon', async (t) => {
  const folder = await folderOf(t)
  const pidFile = join(folder, 'npm.pid')
  const wrapper = ['sh', '-c', `echo $$ > '${pidFile}'; for word; do :; done; exec npm start -- --ready-file "$word"`, 'sh']
  await using daemon = await Daemon.start({ folder, wrapper })
  process.kill(Number(await readFile(pidFile, 'utf8')), 'SIGTERM')
  t.is((await daemon.exited).code, 0, daemon.log)
  await firstLife(t, folder)
})

test('serve(): explains an unusable data folder in one sentence', async (t) => {
  const folder = await folderOf(t)
  const file = join(folder, 'file')
  await writeFile(file, '')
  const advice = 'give it to the user who runs Postern, or choose another with POSTERN_DATA_DIR.'
  const none = 'is not a folder, or has a parent that is not one'
  for (const [dataDir, reason] of [
    [file, `${none} (EEXIST)`],
    [join(file, 'data'), `${none} (ENOTDIR)`],
    ['/proc/postern', 'cannot be written (ENOENT)'],
  ] as const) {
    const { code, output } = await failing(folder, {}, dataDir)
    t.deepEqual({ code, output }, { code: 1, output: `${dataDir} ${reason}; ${advice}\n` })
  }
})

test('verify: refuses a folder without data and creates none', async (t) => {
  const folder = await folderOf(t)
  await mkdir(join(folder, 'data'))
  const { code, output } = await runCommand({ folder }, 'verify')
  t.is(code, 1)
  t.is(output, `There is no data in ${join(folder, 'data')}; start the daemon once, or set POSTERN_DATA_DIR to the folder that it uses.\n`)
  await t.throwsAsync(stat(join(folder, 'data', 'store')), { code: 'ENOENT' })
})
