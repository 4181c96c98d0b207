/** The single binary as on a server: one file in a separate folder, without the project. */
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from '#test'
import { bundleDashboard } from '../../../admin-api/dashboard/build.ts'
import type { Manifest } from '../../../admin-api/dashboard/built-files.ts'
import { dashboardAssets } from '../../../admin-api/dashboard/shell-page.ts'
import { textsIn } from '../../../admin-api/pages/texts/texts-for.ts'
import { root } from '../../../daemon/packaging/bundle.ts'
import { makeBinary } from '../../../daemon/packaging/single-binary.ts'
import { Daemon, portOf, runCommand, spawnCommand, type DaemonOptions } from '../../support/daemon/daemon.ts'
import { catchAllInbox } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { anyDatabases } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { makeCertificates } from '../../support/web/certificates.ts'
import { Pebble } from '../certificates/pebble.ts'
import { assertVerified } from '../../support/problems.ts'

/** Megabytes. */
const largest = 135

let made: Promise<string>
test.before(() => {
  made = makeBinary('linux-x64')
  return made
})

/**
 * Copies the binary into a folder whose path is not a valid URL without encoding. Tests run one at a time: a process started during the
 * copy inherits the open file, and Linux does not run a file that is open for writing.
 */
async function installed(t: ExecutionContext): Promise<DaemonOptions & { readonly binary: string }> {
  const folder = await temporaryFolder('binary')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const place = join(folder.path, 'grün & 100% #1')
  await mkdir(place)
  const binary = join(place, 'postern')
  await copyFile(await made, binary)
  return { folder: folder.path, binary }
}

const sha256 = async (path: string): Promise<string> => hash('sha256', await readFile(path))

test.serial('binary: bounded size, contains its commit, reproducible in any folder', async (t) => {
  const { binary } = await installed(t)
  t.false((await readFile(binary)).includes(join(root, 'daemon')), 'the build folder is not in the binary')
  t.true((await stat(binary)).size <= largest * 1e6)
  const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' })
  const commit = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).stdout.trim()
  t.regex(stdout, new RegExp(`^\\d+\\.\\d+\\.\\d+ \\(commit ${commit}(-changed)?\\)\\n$`))
  t.is(await sha256(await makeBinary('linux-x64')), await sha256(binary))
})

test.serial('binary: accepts mail, parses in threads, serves pages, survives kill -9', async (t) => {
  const options = await installed(t)
  const daemon = await begun(t, options)
  const text = 'x'.repeat(300_000) // larger than the process parses outside its threads
  const { trace_id: large } = await daemon.rest.must('POST', '/v1/messages', { from: 'shop@example.com', to: 'ada@example.net', text })
  const { username, password } = await daemon.rest.must('POST', '/v1/smtp-credentials', { label: 'binary' })
  const login = { username: String(username), password: String(password) }
  const smtp = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  const content = Buffer.from('From: shop@example.com\r\nTo: ada@example.net\r\nSubject: =?utf-8?q?gr=C3=BCn?=\r\n\r\n<b>hello\r\n')
  t.true((await smtp.send({ from: 'shop@example.com', to: ['ada@example.net'], content })).accepted)
  await smtp.quit()
  await daemon.kill()

  const next = await begun(t, options)
  t.is((await next.rest.must('GET', `/v1/traces/${String(large)}`))['status'], 'captured')
  const inbox = `/v1/inboxes/${await catchAllInbox(next.rest)}/messages`
  const [captured] = await Array.fromAsync(next.rest.rows(inbox))
  const message = await next.rest.must('GET', `${inbox}/${String(captured?.['id'])}`)
  t.is(message['subject'], 'grün')
  const [, manifest] = (await bundleDashboard()).at(-1) ?? []
  const { script } = JSON.parse(String(manifest)) as Manifest
  for (const path of [
    '/',
    '/favicon.ico',
    '/embed.js',
    '/openapi.json',
    '/docs/guides/wordpress',
    '/docs/files/postern-log-shipper',
    '/llms.txt',
    `${dashboardAssets}/${script}`,
  ])
    t.is((await next.rest.call('GET', path)).status, 200, path)
  const { bytes: german } = await next.rest.call('GET', '/sign-in', undefined, { 'accept-language': 'de' })
  t.true(german.toString('utf8').includes(textsIn('de').signIn.title), 'catalogs of other languages are inside')
  t.is((await next.stop()).code, 0)
  t.deepEqual(await readdir(join(options.binary, '..')), ['postern'], 'nothing is written next to the binary')
  assertVerified(t, await runCommand(options, 'verify'))
})

testWith('pebble', 'postgresql').serial('binary: every command works', async (t) => {
  const place = await installed(t)
  const { folder } = place
  const files = await makeCertificates(folder)
  const ports = [await programPort(), await programPort()] as const
  const [httpPort, tlsPort] = [await programPort(), await programPort()]
  await using _pebble = await Pebble.start({ folder, files, ports, httpPort, tlsPort }, ['mail.example.org'])
  const env = {
    POSTERN_ACME_CHALLENGE: 'http-01',
    POSTERN_ACME_TERMS: 'agreed',
    POSTERN_ACME_NAMES: 'mail.example.org',
    POSTERN_ACME_EMAIL: 'admin@example.org',
    POSTERN_ACME_LISTEN: `127.0.0.1:${String(httpPort)}`,
    POSTERN_ACME_DIRECTORY: `https://127.0.0.1:${String(ports[0])}/dir`,
    POSTERN_ACME_CA_FILE: files.ca,
    POSTERN_OPERATOR_KEY: `svcop_${'o'.repeat(43)}`,
    POSTERN_SMTP_HOST: 'mail.example.org',
    POSTERN_CONFIG: join(folder, 'postern.json'),
  }
  await writeFile(env.POSTERN_CONFIG, '{}')
  await writeFile(join(folder, 'list.csv'), 'email,reason,created\nada@example.net,550 unknown,1700000000\n')
  await writeFile(join(folder, 'hello.html'), '<p>Hello {{name}}</p>')
  const daemon = await begun(t, { ...place, env })
  await daemon.said(/certificate issued/)
  const options = { ...place, env: { ...env, POSTERN_HTTP_LISTEN: daemon.addresses.http, POSTERN_API_KEY: daemon.adminKey } }
  const file = (name: string): string => join(folder, name)
  const says = async (what: RegExp, ...args: readonly string[]): Promise<RegExpExecArray | null> => {
    const { code, output } = await runCommand(options, ...args)
    t.is(code, 0, `${args.join(' ')}: ${output}`)
    t.regex(output, what, args.join(' '))
    return what.exec(output)
  }
  const said = await says(/^captured\.no_route\ntrace (\S+)$/m, 'send', '--from', 'a@example.com', '--to', 'b@example.net', '--text', 'Hi')
  await says(/"msg":"message accepted"/, 'logs', '--trace', said?.[1] ?? '', '--json')
  await says(/^svckey_/, 'key', 'create', 'site', '--send-only')
  await says(/^1 added/m, 'import', 'suppressions', file('list.csv'), '--from', 'sendgrid', '--kind', 'bounces')
  await says(/^1 created/m, 'import', 'templates', file('hello.html'), '--from', 'postmark', '--subject', 'Hello')
  await says(/^No queued messages\.$/m, 'queue', 'list')
  await says(/sign-in\/link\//, 'login-link', 'owner@example.com')
  await says(/./, 'operator', 'organizations')
  await says(/"findings": \[/, 'doctor', '--json')
  await says(/^Backup of /m, 'backup', file('one.backup'))
  await says(/^Incremental backup of /m, 'backup', file('two.backup'), '--since', file('one.backup'))
  await says(/complete$/m, 'verify', file('two.backup'))
  await says(/^Restored the backup of /m, 'restore', file('one.backup'), file('two.backup'), '--into', file('restored'))
  await says(/"acme": \{/, 'config')
  await says(/MIT/, 'licenses')
  await says(/CycloneDX/, 'licenses', '--sbom')
  t.is((await daemon.stop()).code, 0)

  await using postgresql = await anyDatabases()
  const database = await postgresql.database()
  await says(/the copy is identical/, 'migrate', '--from', file('restored'), '--to', database)
  const captures = spawnCommand({ ...place, env: { TMPDIR: folder } }, 'capture', '--json')
  const [line] = (await once(createInterface({ input: captures.stdout }), 'line')) as [string]
  t.like(JSON.parse(line), { smtp: { host: '127.0.0.1' } })
  captures.kill()
  t.is((await once(captures, 'close'))[0], 0)
})

async function begun(t: ExecutionContext, options: DaemonOptions): Promise<Daemon> {
  const daemon = await Daemon.start(options)
  t.teardown(() => daemon[Symbol.asyncDispose]())
  return daemon
}
