/** A process with standard output and error that are full, closed or unread: it keeps accepting mail, and each exit has its code. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from '#test'
import { Daemon, programOf, runCommand, type DaemonOptions } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { listenIn } from '../../support/web/listen.ts'

const run = promisify(execFile)
const mebibyte = 2 ** 20

/** Shell redirections of both outputs; `$0` is the path of a named pipe. */
const outputs = {
  'a full disk': 'exec "$@" >/dev/full 2>&1',
  'closed descriptors': 'exec "$@" >&- 2>&-',
  'a pipe without a reader': 'mkfifo "$0" && exec 4<>"$0" && exec "$@" >"$0" 2>&1 4<&-',
  'a full pipe without reads': 'mkfifo "$0" && exec 4<>"$0" && head -c 65536 /dev/zero >&4 && exec "$@" >"$0" 2>&1',
} as const

async function optionsOf(t: ExecutionContext, output: string, env: Readonly<Record<string, string>> = {}): Promise<DaemonOptions> {
  const folder = await temporaryFolder('output')
  t.teardown(() => folder[Symbol.asyncDispose]())
  return {
    folder: folder.path,
    env: { POSTERN_LOG_LEVEL: 'debug', ...env },
    wrapper: ['sh', '-c', output, join(folder.path, 'pipe')],
  }
}

async function exitOf(t: ExecutionContext, options: DaemonOptions): Promise<number | null> {
  const daemon = await Daemon.launch(options)
  t.teardown(() => daemon[Symbol.asyncDispose]())
  return (await waiting('the refused start ends', daemon.exited)).code
}

const message = (text: string) => ({ from: 'a@capture.test', to: 'b@inbox.test', subject: 'hello', text })

/** Sends a message and repeats it if a busy daemon sheds load. */
const send = (daemon: Daemon): Promise<true> =>
  waitFor('a message is accepted', async () => (await daemon.rest.call('POST', '/v1/messages', message('hello'))).status === 200)

async function assertStops(t: ExecutionContext, daemon: Daemon): Promise<void> {
  t.is((await daemon.stop()).code, 0)
}

for (const [name, output] of Object.entries(outputs)) {
  test.serial(`a daemon whose log goes to ${name} starts, accepts mail and stops`, async (t) => {
    await using daemon = await Daemon.start(await optionsOf(t, output))
    for (let i = 0; i < 3; i++) await send(daemon)
    t.is((await daemon.rest.call('GET', '/readyz')).status, 200)
    await assertStops(t, daemon)
  })

  test.serial(`a refused start whose output goes to ${name} ends with its exit code`, async (t) => {
    const port = await listenIn(t, createServer())
    t.is(await exitOf(t, await optionsOf(t, output, { POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` })), 1)
    t.is(await exitOf(t, await optionsOf(t, output, { POSTERN_HTTP_LISTEN: 'nowhere' })), 78)
  })
}

for (const name of ['a full disk', 'a pipe without a reader'] as const) {
  test.serial(`a daemon whose log goes to ${name} ends with 70 when its store fails`, async (t) => {
    await using daemon = await Daemon.start(await optionsOf(t, outputs[name]))
    await run('prlimit', ['--pid', String(daemon.addresses.pid), `--fsize=${String(mebibyte / 4)}`])
    const text = 'x'.repeat(60_000)
    let isOver = false
    void daemon.exited.then(() => (isOver = true))
    while (!isOver) await daemon.rest.call('POST', '/v1/messages', message(text)).catch(() => undefined)
    t.is((await daemon.exited).code, 70)
  })
}

test.serial('dropped log lines: counted, reported by /readyz, doctor and the next log line', async (t) => {
  const options = await optionsOf(t, 'mkfifo "$0" && exec 4<>"$0" && exec "$@" >"$0" 2>/dev/null 4<&-')
  await using daemon = await Daemon.start(options)
  await send(daemon)
  await waitFor('lines are dropped', async () => (await droppedBy(daemon)) > 0)
  const { warnings } = (await daemon.rest.must('GET', '/readyz')) as { warnings: string[] }
  t.regex(warnings.join(), /^log\.lines_dropped: The log cannot be written: EPIPE/)
  const { code, output } = await runCommand({ folder: options.folder, ...(options.env && { env: options.env }) }, 'doctor', '--json')
  t.is(code, 1)
  t.regex(output, /"log\.lines_dropped"/)

  const reader = await open(join(options.folder, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
  t.teardown(() => reader.close())
  await send(daemon)
  await assertStops(t, daemon)
  const lines = await readFile(reader, 'utf8')
  t.regex(lines, /"level":"warn",.*"lines":\d+,"reason":"EPIPE: .*","msg":"log lines were dropped"/)
})

async function droppedBy(daemon: Daemon): Promise<number> {
  const { bytes } = await daemon.rest.call('GET', '/metrics')
  return Number(/^postern_log_lines_dropped_total (\d+)$/m.exec(bytes.toString('utf8'))?.[1])
}

test.serial('closed log reader: the daemon keeps accepting mail and stops in order', async (t) => {
  const options = await optionsOf(t, 'exec 4<>"$0" && exec "$@" >"$0" 2>&1 4<&-')
  const pipe = join(options.folder, 'pipe')
  await run('mkfifo', [pipe])
  const reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  await using daemon = await Daemon.start(options)
  await send(daemon)
  await reader.close()
  for (let i = 0; i < 3; i++) await send(daemon)
  await assertStops(t, daemon)
})

test.serial('a command whose output cannot be written ends with 1', async (t) => {
  const { folder, env } = await optionsOf(t, '')
  const [command, ...args] = [process.execPath, 'daemon/postern.js', 'config']
  const failed = await run('sh', ['-c', 'exec "$@" >/dev/full', 'sh', command, ...args], {
    env: { PATH: process.env['PATH'], ...env, POSTERN_DATA_DIR: folder },
  }).then(
    () => undefined,
    (error: unknown) => error as { code: number; stderr: string },
  )
  t.is(failed?.code, 1)
  t.is(failed?.stderr, 'The output could not be written: ENOSPC: no space left on device, write. Make room for it, or send it elsewhere.\n')
})

test.serial('closed reader: a command ends as with SIGPIPE', async (t) => {
  const { env } = await optionsOf(t, '')
  const command = [process.execPath, 'daemon/postern.js', 'licenses']
  const script = '"$@" | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}'
  const ended = await t.throwsAsync(run('bash', ['-c', script, 'bash', ...command], { env: { PATH: process.env['PATH'], ...env } }))
  t.like(ended, { code: 141 })
})

test('backup: output that is not read to its end is not recorded as a backup', async (t) => {
  const folder = await temporaryFolder('backup-output')
  t.teardown(() => folder[Symbol.asyncDispose]())
  await using daemon = await Daemon.start({ folder: folder.path })
  const { rest } = daemon
  const { args, env } = programOf({ folder: folder.path })
  const text = randomBytes(400_000).toString('base64')
  await rest.must('POST', '/v1/messages', message(text))
  for (const [output, sentence] of [
    ['"$@" 2>"$0" | head -c 1000 >/dev/null; exit ${PIPESTATUS[0]}', /The backup is not whole: the program that reads it has ended\.\n$/],
    ['"$@" 2>"$0" >&-', /Standard output is closed or \/dev\/null, so the backup would be lost\. Name a file\.\n$/],
  ] as const) {
    const errors = join(folder.path, 'errors')
    const ended = run('bash', ['-c', output, errors, ...args, 'backup', '-'], { env })
    t.like(await t.throwsAsync(ended, undefined, output), { code: 1 }, output)
    t.regex(await readFile(errors, 'utf8'), sentence)
  }
  t.regex(await (await fetch(`http://${daemon.addresses.http}/metrics`)).text(), /^postern_last_backup_age_seconds \+Inf$/m)
})
