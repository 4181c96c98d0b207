/** Third-party SMTP clients: their mail arrives complete in the catch-all inbox. */
import { execFile, type ExecFileException } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createTransport } from 'nodemailer'
import test, { type ExecutionContext } from '#test'
import { makeCertificates, type CertificateFiles } from '../support/web/certificates.ts'
import { Daemon, portOf } from '../support/daemon/daemon.ts'
import { catchAllInbox, makeDestination, makeLogin, type Login } from '../support/daemon/provision.ts'
import { testWith } from '../support/peers/peers.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'

const run = promisify(execFile)

const swaks = testWith('swaks', 'ssleay')
const python = testWith('python')
const curl = testWith('curl')

/** Starts a daemon that captures all mail, with a certificate that clients can verify. */
interface Place {
  readonly daemon: Daemon
  readonly login: Login
  readonly certificates: CertificateFiles
  readonly folder: string
  readonly starttls: readonly number[]
  readonly implicitTls: number
}

const lifetime = new AsyncDisposableStack()
let place: Place

test.before(async () => {
  const folder = lifetime.use(await temporaryFolder('clients')).path
  const certificates = await makeCertificates(folder)
  const env = { POSTERN_TLS_CERT: certificates.cert, POSTERN_TLS_KEY: certificates.key, POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'never' }
  const daemon = lifetime.use(await Daemon.start({ folder, env }))
  const login = await makeLogin(daemon.rest, await makeDestination(daemon.rest, { name: 'sandbox', port: 25, mode: 'sandbox' }))
  const { submission, submissions } = daemon.addresses
  place = { daemon, login, certificates, folder, starttls: submission.map(portOf), implicitTls: portOf(submissions[0]) }
})
test.after.always(() => lifetime.disposeAsync())

/** Returns the complete captured message with this subject. */
async function captured(t: ExecutionContext, subject: string): Promise<string> {
  const { rest } = place.daemon
  const inbox = await catchAllInbox(rest)
  const found: Record<string, unknown>[] = []
  for await (const row of rest.rows(`/v1/inboxes/${inbox}/messages`)) if (row['subject'] === subject) found.push(row)
  t.is(found.length, 1, `messages named ${subject}`)
  const message = await rest.must('GET', `/v1/inboxes/${inbox}/messages/${String(found[0]?.['id'])}`)
  t.deepEqual(message['intended_to'], ['anna@shop.test', 'ben@shop.test'])
  t.is(message['intended_from'], 'web@site.test')
  const { bytes } = await rest.call('GET', new URL(String(message['raw_url']), 'http://daemon.test').pathname)
  return bytes.toString('utf8')
}

swaks('swaks submits with AUTH PLAIN and LOGIN on both kinds of port', async (t) => {
  for (const mechanism of ['PLAIN', 'LOGIN']) {
    const ports = [...place.starttls.map((port) => [port, '--tls'] as const), [place.implicitTls, '--tls-on-connect'] as const]
    for (const [port, tls] of ports) {
      const subject = `swaks ${mechanism} ${tls} ${String(port)}`
      const { username, password } = place.login
      await run('swaks', [
        ...['--server', `localhost:${String(port)}`, tls, '--tls-verify', '--tls-ca-path', place.certificates.ca],
        ...['--auth', mechanism, '--auth-user', username, '--auth-password', password],
        ...[
          '--from',
          'web@site.test',
          '--to',
          'anna@shop.test,ben@shop.test',
          '--header',
          `Subject: ${subject}`,
          '--body',
          'swaks was here',
        ],
      ])
      t.true((await captured(t, subject)).includes('swaks was here'))
    }
  }
})

swaks('swaks is refused without TLS and with a wrong password', async (t) => {
  const { username, password } = place.login
  const server = ['--server', `localhost:${String(place.starttls[0])}`, '--from', 'web@site.test', '--to', 'anna@shop.test']
  const plain = await outcome('swaks', [...server, '--auth', 'PLAIN', '--auth-user', username, '--auth-password', password])
  t.not(plain.code, 0)
  const wrong = await outcome('swaks', [...server, '--tls', '--auth', 'PLAIN', '--auth-user', username, '--auth-password', `${password}x`])
  t.not(wrong.code, 0)
  t.regex(wrong.output, /<~\* 535 5\.7\.8 /)
})

const script = `
import smtplib, ssl, sys
from email.message import EmailMessage
kind, port, user, password, ca, subject = sys.argv[1:]
message = EmailMessage()
message['From'] = 'web@site.test'
message['To'] = 'anna@shop.test, ben@shop.test'
message['Subject'] = subject
message.set_content('Gr\\u00fcezi from Python\\n.dot\\n')
context = ssl.create_default_context(cafile=ca)
if kind == 'tls':
    server = smtplib.SMTP_SSL('localhost', int(port), context=context)
else:
    server = smtplib.SMTP('localhost', int(port))
    server.starttls(context=context)
server.login(user, password)
server.send_message(message)
server.quit()
`

python("Python's standard library submits on both kinds of port", async (t) => {
  const file = join(place.folder, 'submit.py')
  await writeFile(file, script)
  for (const [kind, port] of [...place.starttls.map((port) => ['starttls', port] as const), ['tls', place.implicitTls] as const]) {
    const subject = `python ${kind} ${String(port)}`
    await run('/usr/bin/python3', [file, kind, String(port), place.login.username, place.login.password, place.certificates.ca, subject])
    t.regex(await captured(t, subject), /from Python/)
  }
})

test('nodemailer submits on both kinds of port', async (t) => {
  const ca = await readFile(place.certificates.ca, 'utf8')
  const auth = { user: place.login.username, pass: place.login.password }
  for (const [secure, port] of [...place.starttls.map((port) => [false, port] as const), [true, place.implicitTls] as const]) {
    const transport = createTransport({ host: 'localhost', port, secure, requireTLS: true, auth, tls: { ca } })
    const subject = `nodemailer ${String(port)}`
    await transport.sendMail({ from: 'web@site.test', to: ['anna@shop.test', 'ben@shop.test'], subject, text: 'nodemailer was here' })
    transport.close()
    t.true((await captured(t, subject)).includes('nodemailer was here'))
  }
})

curl('curl submits with smtp:// and smtps://', async (t) => {
  const file = join(place.folder, 'letter.eml')
  for (const url of [
    ...place.starttls.map((port) => `smtp://localhost:${String(port)}`),
    `smtps://localhost:${String(place.implicitTls)}`,
  ]) {
    const subject = `curl ${url}`
    const letter = `From: <web@site.test>\r\nTo: <anna@shop.test>\r\nSubject: ${subject}\r\n\r\n.curl was here\r\n..\r\n`
    await writeFile(file, letter)
    const { username, password } = place.login
    await run('curl', [
      ...['--silent', '--show-error', '--url', url, '--ssl-reqd', '--cacert', place.certificates.ca, '--user', `${username}:${password}`],
      ...['--mail-from', 'web@site.test', '--mail-rcpt', 'anna@shop.test', '--mail-rcpt', 'ben@shop.test', '--upload-file', file],
    ])
    t.true((await captured(t, subject)).endsWith(letter))
  }
})

async function outcome(command: string, args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  try {
    const { stdout } = await run(command, args)
    return { code: 0, output: stdout }
  } catch (error) {
    const { code, stdout } = error as ExecFileException
    return { code: typeof code === 'number' ? code : -1, output: stdout ?? '' }
  }
}
