/** `postern capture` in test suites: captured mail, simulated recipients, the form with a command, and the cleanup. */
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from '#test'
import { createTransport } from 'nodemailer'
import { waitFor, waiting } from '../../../support/waits.ts'
import { runCommand, spawnCommand } from '../../../support/daemon/daemon.ts'
import { RestClient } from '../../../support/daemon/rest.ts'
import { temporaryFolder } from '../../../support/daemon/workspace.ts'
import { WebhookReceiver } from '../../../support/web/webhook-receiver.ts'

interface Access {
  readonly smtp: { readonly host: string; readonly port: number; readonly username: string; readonly password: string }
  readonly http: string
  readonly api_key: string
  readonly inbox_id: string
}

const runFolders = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('postern-capture-')).toSorted()

/** Returns the exit code and the output. */
const capture = (folder: string, ...args: readonly string[]) => runCommand({ folder, env: { TMPDIR: folder } }, 'capture', ...args)

/** A test suite in one line of JavaScript. It sends a mail with the login from its environment. */
const suite = (body: string): string[] => [
  '--',
  process.execPath,
  '--input-type=module',
  '-e',
  `import { createTransport } from 'nodemailer'\n${body}`,
]
const sends =
  "await createTransport(process.env.SMTP_URL).sendMail({ from: 'a@site.test', to: 'ann@x.test', subject: 'Hello', text: 'Hi' })\n"

class Run implements AsyncDisposable {
  readonly access: Access
  readonly rest: RestClient
  readonly #child: ReturnType<typeof spawnCommand>

  private constructor(access: Access, child: ReturnType<typeof spawnCommand>) {
    this.access = access
    this.#child = child
    this.rest = new RestClient(new URL(access.http).host, access.api_key)
  }

  static async start(folder: string, ...args: readonly string[]): Promise<Run> {
    const child = spawnCommand({ folder, env: { TMPDIR: folder } }, 'capture', '--json', ...args)
    const errors = text(child.stderr)
    const [line] = (await waiting('the first line', Promise.race([once(createInterface({ input: child.stdout }), 'line'), errors]))) as [
      string,
    ]
    return new Run(JSON.parse(line) as Access, child)
  }

  /** Sends a mail and returns the reply code. */
  async send(to: string): Promise<number> {
    const { host, port, username: user, password: pass } = this.access.smtp
    const transport = createTransport({ host, port, auth: { user, pass } })
    try {
      const { response } = await transport.sendMail({ from: 'shop@site.test', to, subject: `To ${to}`, text: 'Hello' })
      return Number(response.slice(0, 3))
    } catch (error) {
      return (error as { responseCode: number }).responseCode
    } finally {
      transport.close()
    }
  }

  async sendByRest(to: string): Promise<string> {
    const sent = await this.rest.must('POST', '/v1/messages', { from: 'shop@site.test', to: [to], subject: `REST to ${to}`, text: 'Hello' })
    return String(sent['trace_id'])
  }

  statusOf(traceId: string, wanted: string): Promise<string> {
    return waitFor(`${traceId} is ${wanted}`, async () => {
      const { status } = (await this.rest.must('GET', `/v1/traces/${traceId}`)) as { status: string }
      return status === wanted ? status : undefined
    })
  }

  /** Waits for this number of captured messages and returns their subjects in alphabetical order. */
  async subjects(count: number): Promise<string[] | undefined> {
    const found: string[] = []
    for await (const { subject } of this.rest.rows(`/v1/inboxes/${this.access.inbox_id}/messages`)) found.push(String(subject))
    return found.length < count ? undefined : found.toSorted()
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.rest[Symbol.dispose]()
    const exited = once(this.#child, 'exit')
    this.#child.kill(signal)
    const [code] = (await waiting('the command ends', exited)) as [number | null]
    return code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.rest[Symbol.dispose]()
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end('SIGKILL')
  }
}

test.serial('capture: captures mail, simulates failures, sends nothing out, deletes its data', async (t) => {
  await using folder = await temporaryFolder('capture')
  await using hook = await new WebhookReceiver().listen()
  await using run = await Run.start(folder.path, '--suppress')
  t.deepEqual(Object.keys(run.access), ['smtp', 'http', 'api_key', 'inbox_id'])
  t.is((await runFolders(folder.path)).length, 1)
  t.false((await readdir(folder.path)).includes('data'), 'the data folder of the settings is not touched')
  await run.rest.must('POST', '/v1/webhooks', { name: 'tests', target_url: hook.url })

  t.is(await run.send('ann@x.test'), 250)
  t.deepEqual([await run.send('bounce@x.test'), await run.send('refuse+552@x.test')], [550, 552])
  t.deepEqual([await run.send('defer+2@x.test'), await run.send('defer+2@x.test'), await run.send('defer+2@x.test')], [451, 451, 250])
  t.deepEqual([await run.send('slow+0@x.test'), await run.send('dsn+0.smtp@x.test, bob@x.test')], [250, 250])
  const sent = {
    bounced: await run.sendByRest('bounce@x.test'),
    complained: await run.sendByRest('complaint+0@x.test'),
    failed: await run.sendByRest('refuse@x.test'),
    sent: await run.sendByRest('defer@x.test'),
    captured: await run.sendByRest('ann@x.test'),
  }
  for (const [status, traceId] of Object.entries(sent)) t.is(await run.statusOf(traceId, status), status)
  await waitFor('all events', async () => {
    const types = hook.received.map(({ body }) => (JSON.parse(body) as { type: string }).type)
    const isThere = ['complained', 'failed', 'auto_suppressed'].every((type) => types.includes(type))
    return (isThere && types.filter((type) => type === 'bounced').length >= 2) || undefined
  })
  const inboxed = [
    'REST to ann@x.test',
    'REST to bounce@x.test',
    'REST to complaint+0@x.test',
    'REST to defer@x.test',
    'To ann@x.test',
    'To defer+2@x.test',
    'To dsn+0.smtp@x.test, bob@x.test',
    'To slow+0@x.test',
  ]
  t.deepEqual(await waitFor('all mail is in the inbox', () => run.subjects(inboxed.length)), inboxed)
  await staysHere(t, run)
  t.is(await run.end('SIGTERM'), 0)
  t.deepEqual(await runFolders(folder.path), [])
})

/** Asserts that a bounce suppresses its recipient, as in live mode, and that public addresses are unreachable. */
async function staysHere(t: ExecutionContext, run: Run): Promise<void> {
  const again = await run.rest.must('POST', '/v1/messages', { from: 'a@site.test', to: ['bounce@x.test'], subject: 'again', text: 'x' })
  t.is(again['status'], 'suppressed')
  const credentials = { host: '198.51.100.7', port: 587, security: 'starttls' }
  const refused = await run.rest.call('POST', '/v1/destinations', { name: 'public', provider: 'smtp', credentials })
  t.is(refused.status, 400, refused.bytes.toString('utf8'))
  const key = { name: 'api', provider: 'postmark', credentials: { server_token: 'x'.repeat(36) } }
  const { id } = await run.rest.must('POST', '/v1/destinations', key)
  const tested = await run.rest.must('POST', `/v1/destinations/${String(id)}/test`)
  t.regex(JSON.stringify(tested), /dns_not_found|no address/i)
  const webhook = await run.rest.call('POST', '/v1/webhooks', { name: 'public', target_url: 'https://198.51.100.7/hook' })
  t.is(webhook.status, 400, webhook.bytes.toString('utf8'))
}

test.serial('capture: runs a command with variables, exit code, expectations and cleanup', async (t) => {
  await using folder = await temporaryFolder('capture')
  const gone = spawnCommand({ folder: folder.path }, '--version')
  await once(gone, 'exit')
  const owners = {
    'of-dead': { pid: gone.pid, host: hostname() },
    'of-alive': { pid: process.pid, host: hostname() },
    elsewhere: { pid: gone.pid, host: 'other' },
  }
  for (const [name, owner] of Object.entries(owners)) {
    await mkdir(join(folder.path, `postern-capture-${name}`))
    await writeFile(join(folder.path, `postern-capture-${name}`, 'owner.json'), JSON.stringify(owner))
  }
  const report = join(folder.path, 'mail.xml')
  const expected = join(folder.path, 'expected.txt')
  await writeFile(expected, '# the mail of the suite\nto=ann@x.test subject=Hello text~=hi count=1\nto=eve@x.test count=0\n')
  const passed = await capture(folder.path, '--expect-file', expected, '--junit', report, ...suite(`${sends}process.exit(0)`))
  t.is(passed.code, 0, passed.output)
  t.is(passed.output, '')
  t.regex(await readFile(report, 'utf8'), /<testsuite name="mail" tests="2" failures="0"/)
  t.deepEqual(await runFolders(folder.path), ['postern-capture-elsewhere', 'postern-capture-of-alive'])

  const failed = await capture(folder.path, '--wait', '0', '--expect', 'to=eve@x.test', '--junit', report, ...suite(sends))
  t.is(failed.code, 1, failed.output)
  t.regex(failed.output, /^Not met: to=eve@x\.test\n  Expected at least 1 message, found 0\. Caught:\n  ann@x\.test: Hello\n$/)
  t.regex(await readFile(report, 'utf8'), /failures="1"[^]*<failure type="ExpectationFailed"/)
  const ended = await capture(
    folder.path,
    '--',
    process.execPath,
    '-e',
    'process.exit(process.env.POSTERN_INBOX_ID.startsWith("inb_") ? 7 : 8)',
  )
  t.is(ended.code, 7, ended.output)
  const missing = await capture(folder.path, '--', '/no/such/program')
  t.is(missing.code, 127)
  t.regex(missing.output, /^\/no\/such\/program cannot be run \(ENOENT\)\.\n$/)
  t.is((await capture(folder.path, '--expect', 'what')).code, 64)
  t.is((await runFolders(folder.path)).length, 2)
})

test.serial('capture: accepts any login or none, and lists refusals with failed expectations', async (t) => {
  await using folder = await temporaryFolder('capture-open')
  const sendAs = (subject: string, auth: string, to = 'ann@x.test'): string =>
    `await createTransport({ host: process.env.SMTP_HOST, port: Number(process.env.SMTP_PORT), ${auth} })` +
    `.sendMail({ from: 'a@site.test', to: '${to}', subject: '${subject}', text: 'Hi' }).catch((error) => console.log(error.responseCode))\n`
  const logins = sendAs('none', '') + sendAs('any', "auth: { user: 'me', pass: 'secret' }")
  const expected = ['--expect', 'subject=none', '--expect', 'subject=any']
  const open = await capture(folder.path, ...expected, ...suite(logins))
  t.deepEqual([open.code, open.output], [0, ''])
  const refused = await capture(folder.path, '--wait', '1', '--expect', 'count=2', ...suite(sendAs('x', '', 'refuse@x.test').repeat(2)))
  t.is(refused.code, 1)
  t.regex(refused.output, /found 0\. No mail was caught\.\nRefused during the run:\n {2}smtp 550 5\.1\.1 .* \(2 times\)$/m)
  t.is((await capture(folder.path, '--expect', 'to==')).code, 64)
})

test.serial('capture: passes a signal to the command and deletes the folder', async (t) => {
  await using folder = await temporaryFolder('capture')
  const waits = "process.on('SIGINT', () => process.exit(5)); setInterval(() => undefined, 1e6); console.error('waits')"
  const child = spawnCommand({ folder: folder.path, env: { TMPDIR: folder.path } }, 'capture', '--', process.execPath, '-e', waits)
  await waiting('the command runs', once(createInterface({ input: child.stderr }), 'line'))
  const exited = once(child, 'exit')
  child.kill('SIGINT')
  t.deepEqual(await waiting('the command ends', exited), [5, null])
  t.deepEqual(await runFolders(folder.path), [])
})
