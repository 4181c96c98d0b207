/** Commands with a running daemon: send, tail, key create, doctor and others, each in a separate process. */
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import ava, { type ExecutionContext, type TestFn } from '#test'
import { newApiKey } from '../../../admin-api/wire/access/api-key.ts'
import { proofOf } from '#core/access/run-proof.ts'
import { loadConfig } from '#config/settings/load.ts'
import { commandHelp } from '../../../daemon/commands/command-help.ts'
import { parseCommandLine } from '../../../daemon/commands/command-line.ts'
import { writeOperatorFile } from '../../../daemon/process/operator-file.ts'
import { send } from '../../../daemon/commands/send-command.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { catchAllInbox } from '../../support/daemon/provision.ts'
import { Daemon, runCommand, spawnCommand, type DaemonOptions } from '../../support/daemon/daemon.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { listenIn } from '../../support/web/listen.ts'

interface Place {
  readonly daemon: Daemon
  readonly options: DaemonOptions
}

const test = ava as TestFn<Place>

/** Starts the daemon for tests that neither stop it nor change its routing. */
test.before(async (t) => {
  const folder = await temporaryFolder('commands')
  const options = { folder: folder.path }
  const daemon = await Daemon.start(options)
  t.context = { daemon, options }
  ends.push(
    () => daemon[Symbol.asyncDispose](),
    () => folder[Symbol.asyncDispose](),
  )
})

const ends: (() => PromiseLike<void>)[] = []
test.after.always(async () => {
  for (const end of ends) await end()
})

/** Starts a daemon for one test. */
async function started(t: ExecutionContext<Place>, env: Record<string, string> = {}): Promise<Place> {
  const folder = await temporaryFolder('commands')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const options = { folder: folder.path, env }
  const daemon = await Daemon.start(options)
  t.teardown(() => daemon[Symbol.asyncDispose]())
  return { daemon, options }
}

const letter = ['--from', 'shop@site.test', '--to', 'ann@inbox.test', '--subject', 'By hand']

test('postern send: sends through the running daemon and prints the decision', async (t) => {
  const { daemon, options } = await started(t)
  const { code, output } = await runCommand(options, 'send', ...letter, '--text', 'Hello')
  t.is(code, 0, output)
  const [, traceId] = /^captured\.no_route\ntrace (\S{36})\n$/.exec(output) ?? []
  const inbox = await catchAllInbox(daemon.rest)
  const { data } = await daemon.rest.must('GET', `/v1/inboxes/${inbox}/messages`)
  t.like((data as Record<string, unknown>[])[0], { trace_id: traceId, subject: 'By hand' })

  const refused = await runCommand(options, 'send', '--from', 'shop@site.test', '--to', 'nobody', '--text', 'x')
  t.is(refused.code, 64)
  t.regex(refused.output, /^--to: /)
  t.notRegex(refused.output, /\n +at /)
})

test('postern send: calls another daemon by address and key', async (t) => {
  const { daemon, options } = await started(t)
  const elsewhere = await temporaryFolder('elsewhere')
  t.teardown(() => elsewhere[Symbol.asyncDispose]())
  const far = { folder: elsewhere.path }
  const args = ['send', ...letter, '--text', 'Hello']
  t.regex((await runCommand(far, ...args)).output, /^No daemon runs on .*\. Start it, or set POSTERN_DATA_DIR/)
  const url = `http://${daemon.addresses.http}`
  t.regex((await runCommand(far, ...args, '--url', url)).output, /^--url needs an API key/)
  t.regex((await runCommand(far, ...args, '--url', `${url}/`, '--key', daemon.adminKey)).output, /^captured\.no_route\n/)
  for (const wrong of ['127.0.0.1:8080', 'nonsense', 'ftp://127.0.0.1']) {
    const { code, output } = await runCommand(far, ...args, '--url', wrong, '--key', 'svckey_x')
    t.is(code, 64)
    t.is(output, `--url must be a URL such as http://127.0.0.1:8080; got ${JSON.stringify(wrong)}. Try postern send --help.\n`)
  }
  const site = createServer((_, response) => response.end('<html>'))
  const page = `http://127.0.0.1:${await listenIn(t, site)}`
  t.is((await runCommand(far, ...args, '--url', page, '--key', 'k')).output, `The server at ${page} is not Postern. Check the address.\n`)
  const inEnvironment = { ...far, env: { POSTERN_API_KEY: daemon.adminKey } }
  t.regex((await runCommand(inEnvironment, ...args, '--url', url, '--json')).output, /^\{"trace_id":/)
  await daemon.kill() // its operator file names an address without a listener
  t.regex((await runCommand(options, ...args)).output, /^No daemon responds at /)
})

test('commands: retry if the daemon is busy, and not after other refusals', async (t) => {
  const folder = await temporaryFolder('busy')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const codes = ['overloaded', 'overloaded', 'storage_full']
  const server = createServer((request, response) => {
    request.resume()
    const code = codes.shift() ?? 'all replies are used'
    response.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { code, message: `It is ${code}.` } }))
  })
  const url = `http://127.0.0.1:${await listenIn(t, server)}`
  const { code, output } = await runCommand({ folder: folder.path }, 'send', ...letter, '--text', 'x', '--url', url, '--key', 'k')
  t.deepEqual([code, output], [1, 'It is storage_full.\n'])
})

test('postern promote: makes a destination live; --default-route adds a route', async (t) => {
  const { daemon, options } = await started(t)
  const relay = { name: 'Host', provider: 'smtp', credentials: { host: '127.0.0.1', port: 9, security: 'none' } }
  const { id } = await daemon.rest.must('POST', '/v1/destinations', relay)
  const warned = await runCommand(options, 'promote', String(id))
  t.is(warned.code, 0, warned.output)
  t.is(
    warned.output,
    'Host is live.\nWarning: No routing rule leads to Host. Messages without destination_id are captured (captured.no_route). ' +
      'Repeat the command with --default-route, or create a rule.\n',
  )
  const sent = await runCommand(options, 'send', ...letter, '--text', 'Hello')
  t.regex(
    sent.output,
    /^captured\.no_route\ntrace \S{36}\nWarning: No routing rule, project environment or default sender selects a destination for this message/,
  )

  const routed = await runCommand(options, 'promote', String(id), '--default-route')
  t.regex(routed.output, /^Host is live\. Routing rule rul_\w+ routes mail to it\.\n$/)
  t.regex((await runCommand(options, 'send', ...letter, '--text', 'Hello')).output, /^relayed\n/)
  const asJson = JSON.parse((await runCommand(options, 'promote', String(id), '--json')).output) as Record<string, unknown>
  t.like(asJson, { id, already_live: true, route: { leads_here: true, by: 'rule' }, warnings: [] })
  const unknown = await runCommand(options, 'promote', String(id), '--default-route', '--project', 'prj_none')
  t.deepEqual([unknown.code, unknown.output.slice(0, 11)], [1, '--project: '])
  t.like(await runCommand(options, 'promote'), { code: 64 })
})

test('postern key create: prints only the key, with the requested scope', async (t) => {
  const { daemon, options } = t.context
  const { code, output } = await runCommand(options, 'key', 'create', 'my site', '--scope', 'api:read')
  t.is(code, 0, output)
  t.regex(output, /^svckey_\S{43}\n$/)
  using rest = new RestClient(daemon.addresses.http, output.trim())
  t.is((await rest.call('GET', '/v1/destinations')).status, 200)
  t.is((await rest.call('POST', '/v1/messages', { from: 'a@b.test', to: 'c@d.test', text: 'x' })).status, 403)
  const wrong = await runCommand(options, 'key', 'create', 'x', '--scope', 'api:everything')
  t.is(wrong.code, 64)
  t.regex(wrong.output, /^--scope: must be one of api:read/)
})

test('postern key create has an option for each field of the REST request', async (t) => {
  const { options } = t.context
  const args = ['--send-only', '--failure-notices', 'on', '--failure-notice-to', 'ops@site.test', '--expires-at', '2096-01-31T12:00:00Z']
  const made = await runCommand(options, 'key', 'create', 'my site', ...args, '--json')
  t.is(made.code, 0, made.output)
  t.like(JSON.parse(made.output), {
    ...{ name: 'my site', send_only: true, failure_notices: 'on', failure_notice_to: 'ops@site.test' },
    expires_at: '2096-01-31T12:00:00.000Z',
  })
  const scoped = await runCommand(options, 'key', 'create', 'x', '--failure-notices', 'on')
  t.is(scoped.code, 64)
  t.regex(scoped.output, /^--failure-notices: .*send-only/)
  const fields = Object.keys(newApiKey.shape)
  const others: Readonly<Record<string, string>> = { name: 'NAME', scopes: '--scope', project_id: '--project' }
  const absent = fields.filter((field) => !commandHelp('key').includes(others[field] ?? `--${field.replaceAll('_', '-')}`))
  t.deepEqual(absent, [])
})

test('POSTERN_API_KEY: a line break at the end is accepted, other characters are not', async (t) => {
  const { daemon, options } = t.context
  const withKey = (key: string) => ({ ...options, env: { POSTERN_API_KEY: key } })
  const args = ['send', ...letter, '--text', 'Hello']
  for (const key of ['', ' \n', `${daemon.adminKey}\n`]) t.is((await runCommand(withKey(key), ...args)).code, 0, JSON.stringify(key))
  const url = ['--url', `http://${daemon.addresses.http}`]
  t.regex((await runCommand(withKey(''), ...args, ...url)).output, /^--url needs an API key/)
  const broken = {
    code: 64,
    output:
      'POSTERN_API_KEY contains spaces, line breaks or other characters that a key cannot contain. Use an API key such as svckey_…. Try postern send --help.\n',
  }
  t.like(await runCommand(withKey('svckey_a\nb'), ...args), broken)
  t.like(await runCommand(options, ...args, '--key', ''), {
    code: 64,
    output: '--key is empty. Use an API key such as svckey_…. Try postern send --help.\n',
  })
})

test('postern send with HTML alone does not wait for the standard input', async (t) => {
  const { daemon } = t.context
  const command = parseCommandLine([
    'send',
    ...letter,
    '--html',
    '<p>Hi</p>',
    '--url',
    `http://${daemon.addresses.http}`,
    '--key',
    daemon.adminKey,
  ])
  if (command.name !== 'send') return t.fail(command.name)
  let output = ''
  const write = (text: string) => (output += text)
  const surroundings = { env: {}, stdin: new PassThrough(), stdout: { write }, stderr: { write } }
  const config = loadConfig({ env: {}, readFile: () => '' })
  t.is(await waiting('the message is sent', send(config, command.args, surroundings)), 0)
  t.regex(output, /^captured\.no_route\n/)
})

test('commands of another user: name the user who can read the operator file', async (t) => {
  const port = await programPort()
  const { options } = await started(t, { POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` })
  const isRoot = process.getuid?.() === 0
  // without root rights, a mode of 0 locks out this user too
  if (!isRoot) await chmod(join(options.folder, 'data', 'operator.json'), 0)
  const other = isRoot ? { ...options, user: 65_534 } : options
  for (const args of [['send', ...letter, '--text', 'x'], ['tail'], ['key', 'create', 'x'], ['login-link', 'ada@example.ch']]) {
    const { code, output } = await runCommand(other, ...args)
    t.is(code, 1, args[0])
    t.regex(output, /^\S+operator\.json cannot be read by this user, only by \S+ \(uid \d+\); run the command as that user\.\n$/, args[0])
  }
  const { code, output } = await runCommand(other, 'doctor')
  t.is(code, 1)
  t.regex(output, /^BAD {2}data folder: Only \S+ \(uid \d+\) can read \S+\. Run postern doctor as that user\.$/m)
  t.regex(
    output,
    new RegExp(`^BAD {2}port ${port}: \\S+ is in use, perhaps by the daemon of this data folder\\. Run postern doctor as `, 'm'),
  )
  t.notRegex(output, /another process|no master key yet|no certificate yet/)
})

test('postern tail: prints decisions as they happen and ends with the daemon', async (t) => {
  const { daemon, options } = await started(t)
  const child = spawnCommand(options, 'tail')
  const ended = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => String((await lines.next()).value)
  // waits for the first line, which shows that tail watches; a busy daemon may refuse some of the messages
  let isShown = false
  const accepted = async (): Promise<string> => {
    let line = await next()
    while (/ refused /.test(line)) line = await next()
    return line
  }
  const first = accepted().finally(() => (isShown = true))
  const body = { from: 'shop@site.test', to: ['ann@inbox.test', 'ben@inbox.test'], subject: 'Seen live', text: 'x' }
  await waitFor('tail shows a message', async () => {
    await daemon.rest.call('POST', '/v1/messages', body)
    return isShown
  })
  t.regex(
    await first,
    /^\d\d:\d\d:\d\d\.\d{3} accepted +captured\.no_route {12}shop@site\.test -> ann@inbox\.test \(\+1\) .*subject=Seen live door=rest trace_id=\S{36}$/,
  )
  await daemon.rest.call('POST', '/v1/messages', { ...body, to: 'nobody' })
  for (let line = await next(); !/ refused /.test(line);) line = await next()
  t.is((await daemon.stop()).code, 0)
  t.is((await ended)[0], 0)
})

test('postern tail: removes control characters of senders', async (t) => {
  const folder = await temporaryFolder('steering')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const subject = 'a\u202egpj.exe\u2066\u009b2J\u{e0041}'
  const server = createServer(({ url = '' }, response) => {
    const challenge = new URL(url, 'http://localhost').searchParams.get('challenge')
    if (challenge !== null) response.end(JSON.stringify({ proof: proofOf('token', challenge) }))
    else response.end(`${JSON.stringify({ at: '2026-11-22T12:00:00.000Z', kind: 'accepted', subject })}\n`)
  })
  const port = await listenIn(t, server)
  await writeOperatorFile(
    folder.path,
    { http: { host: '127.0.0.1', port }, https: [], acme: [], submission: [], submissions: [], mx: [], sites: [] },
    'token',
  )
  const options = { folder: folder.path, dataDir: folder.path }
  const line = (text: string): string => text.split('\n').find((one) => one.includes('accepted')) ?? ''
  t.is(line((await runCommand(options, 'tail')).output), '12:00:00.000 accepted    subject=a<U+202E>gpj.exe<U+2066>\u{fffd}2J<U+E0041>')
  const json = line((await runCommand(options, 'tail', '--json')).output)
  t.regex(json, /"a\\u202egpj\.exe\\u2066\\u009b2J\\udb40\\udc41"/)
  t.is((JSON.parse(json) as { subject: string }).subject, subject)
})

test('postern tail: reports a killed daemon in a sentence', async (t) => {
  const { daemon, options } = await started(t)
  const child = spawnCommand(options, 'tail')
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const args = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
  t.is((await args.next()).value, `Watching the daemon at http://${daemon.addresses.http}. Press Ctrl-C to stop.`)
  await daemon.kill()
  t.is((await args.next()).value, `The connection to the daemon at http://${daemon.addresses.http} was lost.`)
  t.true((await args.next()).done)
  t.is((await ended)[0], 1)
})

test('decisions: only the token of this run gives access', async (t) => {
  const { daemon } = t.context
  t.is((await daemon.rest.call('GET', '/operator/decisions')).status, 401)
})

test('postern doctor: tells ports of its daemon from ports of other processes', async (t) => {
  const port = await programPort()
  const { options } = await started(t, { POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` })
  const { output } = await runCommand(options, 'doctor')
  t.regex(
    output,
    new RegExp(`^ok {3}port ${port}: 127\\.0\\.0\\.1:${port} is used by the daemon of this data folder \\(pid \\d+\\)\\.$`, 'm'),
  )
  const other = await temporaryFolder('other')
  t.teardown(() => other[Symbol.asyncDispose]())
  const theirs = await runCommand({ ...options, folder: other.path }, 'doctor')
  t.regex(theirs.output, new RegExp(`^BAD {2}port ${port}: .* is in use by `, 'm'))
})

test('commands: end quietly when the reader closes the output', async (t) => {
  const folder = await temporaryFolder('unread')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const child = spawnCommand({ folder: folder.path }, 'doctor')
  child.stdout.destroy()
  let args = ''
  child.stderr.on('data', (chunk: Buffer) => (args += chunk.toString()))
  t.deepEqual(await once(child, 'close'), [141, null])
  t.is(args, '')
})

test('postern import: imports lists and templates and reports refused entries', async (t) => {
  const { daemon, options } = t.context
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(options.folder, name)
    await writeFile(path, text)
    return path
  }
  const list = await file(
    'suppression_bounces.csv',
    'status,reason,email,created\n5.1.1,no,a@x.ch,1700000000\n5.1.1,no,nonsense,1700000000\n',
  )
  const tried = await runCommand(options, 'import', 'suppressions', list, '--dry-run')
  t.is(tried.code, 1)
  t.regex(tried.output, /\n1 would be added, 0 already present, 0 skipped, 1 refused\.\n$/)
  const { output } = await runCommand(options, 'import', 'suppressions', list)
  t.is(
    output,
    'Format: sendgrid.\nline 3, row 2: refused nonsense: email: must be one address such as ada@example.ch\n1 added, 0 already present, 0 skipped, 1 refused.\n',
  )
  const again = await runCommand(options, 'import', 'suppressions', list, '--from-row', '1', '--json')
  t.regex(again.output, /"total":2,"added":0,"already_there":1,/)
  t.regex((await runCommand(options, 'import', 'suppressions', list, '--from', 'nothing')).output, /^--from: must be one of resend/)
  t.regex(
    (await runCommand(options, 'import', 'suppressions', join(options.folder, 'none.csv'))).output,
    /none\.csv does not exist; check the path\.\n$/,
  )
  const html = await file('Welcome.html', '<p>{{ params.name }}</p>')
  const made = await runCommand(options, 'import', 'templates', html, '--from', 'brevo', '--subject', 'Hi {{ params.name }}')
  t.is(made.output, 'welcome: created\n  template: requests must use the slug welcome\n1 created, 0 updated, 0 unchanged, 0 refused.\n')
  t.is(made.code, 0)
  const { data } = await daemon.rest.must('GET', '/v1/templates')
  t.like((data as Record<string, unknown>[])[0], { slug: 'welcome' })
  t.is((await runCommand(options, 'import', 'templates', html, '--kind', 'bounces')).code, 64)
})

test('postern import: a broken answer ends with the reason and the row to continue with', async (t) => {
  const folder = await temporaryFolder('cut')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const list = join(folder.path, 'list.csv')
  await writeFile(list, 'email\na@x.ch\n')
  const rest = ['{"type":"progress","row":5}\n', '{"type":"progress","row":5}\n<html>\n']
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write(rest.shift(), () => response.destroy())
    })
  })
  const url = `http://127.0.0.1:${await listenIn(t, server)}`
  const imported = () => runCommand({ folder: folder.path }, 'import', 'suppressions', list, '--url', url, '--key', 'k')
  const cut = await imported()
  t.is(cut.code, 1)
  t.regex(cut.output, /^The import stopped after row 5 \([a-z ]*closed[a-z ]*\)\. Run it again with --from-row 6, /)
  t.regex((await imported()).output, /^The import stopped after row 5 \(a line of the answer is not JSON\)\. /)
})
