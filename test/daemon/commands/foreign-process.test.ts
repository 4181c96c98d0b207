/** A killed daemon leaves its operator file: commands send no secret to another process at that address, and use the stopped store. */
import { createServer, type IncomingMessage } from 'node:http'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { Daemon, runCommand, type DaemonOptions } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { assertVerified } from '../../support/problems.ts'
import { listenIn } from '../../support/web/listen.ts'

const letter = ['--from', 'shop@site.test', '--to', 'ann@inbox.test', '--subject', 's', '--text', 'Hello']

/** Kills a daemon. Its operator file names `port`. */
async function killed(
  t: ExecutionContext,
): Promise<{ readonly options: DaemonOptions; readonly port: number; readonly token: string; readonly traceId: string }> {
  const folder = await temporaryFolder('foreign-process')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const port = await programPort()
  const env = { POSTERN_HTTP_LISTEN: `127.0.0.1:${port}`, POSTERN_DOCTOR_TIME_SERVERS: '' }
  const options = { folder: folder.path, env }
  const daemon = await Daemon.start(options)
  const { trace_id: traceId } = await daemon.rest.must('POST', '/v1/messages', {
    from: 'a@site.test',
    to: 'b@inbox.test',
    subject: 's',
    text: 't',
  })
  await daemon.kill()
  await daemon[Symbol.asyncDispose]()
  const { token } = JSON.parse(await readFile(join(folder.path, 'data', 'operator.json'), 'utf8')) as { readonly token: string }
  return { options, port, token, traceId: String(traceId) }
}

async function requestText(request: IncomingMessage): Promise<string> {
  let text = `${request.method} ${request.url} ${request.rawHeaders.join(' ')} `
  for await (const chunk of request) text += String(chunk)
  return text
}

const operatorKey = `svcop_${'o'.repeat(43)}`

test('commands send no secret to a foreign process on the port of a killed daemon', async (t) => {
  const { options, port, token, traceId } = await killed(t)
  const heard: string[] = []
  const server = createServer((request, response) => {
    void requestText(request).then((text) => {
      heard.push(text)
      response.setHeader('content-type', 'application/json').end('{"status":"alive"}')
    })
  })
  await listenIn(t, server, '127.0.0.1', port)
  const file = join(options.folder, 'one.backup')

  for (const args of [
    ['send', ...letter],
    ['tail'],
    ['logs', '--trace', traceId],
    ['key', 'create', 'x'],
    ['queue', 'list'],
    ['findings'],
    ['promote', 'dst_1'],
    ['operator', 'organizations'],
    ['queue', 'list', '--organization', 'org_1'],
  ]) {
    const { code, output } = await runCommand({ ...options, env: { ...options.env, POSTERN_OPERATOR_KEY: operatorKey } }, ...args)
    t.is(code, 1, args[0])
    t.regex(
      output,
      /^The process at http:\/\/127\.0\.0\.1:\d+ is not the daemon of \S+data\. Start the daemon\. If that process uses its port, stop it first\.\n$/,
    )
  }
  const withKey = { ...options, env: { ...options.env, POSTERN_API_KEY: 'svckey_of-the-site' } }
  t.regex((await runCommand(withKey, 'send', ...letter)).output, /^The process at \S+ is not the daemon of /)
  t.is((await runCommand(options, 'backup', file)).code, 0)
  t.is((await runCommand(options, 'verify', file)).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
  t.regex((await runCommand(options, 'login-link', 'ada@example.ch')).output, /^http:\/\/\S+\n\nIt works once/)
  const found = JSON.parse((await runCommand(options, 'doctor', '--json')).output) as {
    readonly findings: readonly { readonly id: string }[]
  }
  const ids = found.findings.map(({ id }) => id)
  t.true(ids.includes('daemon.not_running') && ids.includes('port.unavailable'), ids.join())
  const sendmail = { ...options, env: { ...options.env, POSTERN_SENDMAIL_KEY: 'svckey_of-the-site' } }
  for (const one of [options, sendmail]) {
    const { code, output } = await runCommand(one, 'sendmail', '-f', 'shop@site.test', 'ann@inbox.test')
    t.deepEqual([code, output], [0, ''])
  }
  t.is((await readdir(join(options.folder, 'data', 'spool'))).length, 2, 'the spool contains the mail')

  for (const secret of [token, 'svckey_of-the-site', operatorKey, 'authorization'])
    t.deepEqual(
      heard.filter((text) => text.toLowerCase().includes(secret.toLowerCase())),
      [],
      secret,
    )
  t.true(heard.length > 0)
})

test('verify reads the store of a killed daemon while another Postern listens on its port', async (t) => {
  const { options } = await killed(t)
  const other = await temporaryFolder('other-daemon')
  t.teardown(() => other[Symbol.asyncDispose]())
  await using daemon = await Daemon.start({ ...options, folder: other.path })
  assertVerified(t, await runCommand(options, 'verify'))
  t.is((await runCommand(options, 'backup', join(options.folder, 'one.backup'))).code, 0)
  t.regex((await runCommand(options, 'send', ...letter)).output, /^The process at \S+ is not the daemon of /)
  t.is((await daemon.stop()).code, 0)
})

test('damaged operator file: no command prints a stack', async (t) => {
  const { options } = await killed(t)
  await using daemon = await Daemon.start(options)
  const file = join(options.folder, 'data', 'operator.json')
  const whole = await readFile(file, 'utf8')
  const { token, origin } = JSON.parse(whole) as { readonly token: string; readonly origin: string }
  const damaged = [whole.slice(1), 'null', whole.replace(token, `${token.slice(1)}x`), whole.replace(origin, 'http://127.0.0.1:99999')]
  for (const text of damaged) {
    await writeFile(file, text)
    const verify = await runCommand(options, 'verify')
    t.is(verify.code, 1, `${text}: ${verify.output}`)
    t.regex(verify.output, /^The data folder \S+ is in use by \S+ \(pid \d+\)\. Stop it, /, text)
    const send = await runCommand(options, 'send', ...letter)
    t.is(send.code, 1)
    t.regex(send.output, /operator\.json is damaged|is not the daemon of|^No daemon responds at/, text)
    t.notRegex(`${verify.output}${send.output}`, /\n +at /)
  }
  await writeFile(file, whole)
  t.is((await runCommand(options, 'verify')).code, 0)
  t.is((await daemon.stop()).code, 0)
})
