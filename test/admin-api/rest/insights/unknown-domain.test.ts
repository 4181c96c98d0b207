/** Mail from a domain that was never added, from its submission to the list of findings. */
import test, { type ExecutionContext } from '#test'
import { portOf } from '../../../support/daemon/daemon.ts'
import { makeDestination, makeLogin } from '../../../support/daemon/provision.ts'
import { startDaemon, type StartedDaemon } from '../../../support/daemon/start-daemon.ts'
import { SmtpClient } from '../../../support/smtp/smtp-client.ts'

const halfMinute = 30_000

const found = async ({ rest }: StartedDaemon): Promise<unknown[]> => {
  const all = await Array.fromAsync(rest.rows('/v1/findings?group=domains'))
  return all.filter(({ kind }) => kind === 'domain.unknown').map(({ subject }) => subject)
}

async function send({ rest }: StartedDaemon, from: string, many: number): Promise<void> {
  for (let n = 0; n < many; n++) await rest.must('POST', '/v1/messages', { from, to: 'ada@example.net', subject: 'Hello', text: 'Hello.' })
}

const start = (t: ExecutionContext): Promise<StartedDaemon> =>
  startDaemon(t, { env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' } })

async function sendBySmtp(
  t: ExecutionContext,
  { rest, addresses }: StartedDaemon,
  many: number,
  ...senders: readonly string[]
): Promise<void> {
  const destination = await makeDestination(rest, { name: 'Provider', port: 9, mode: 'sandbox' })
  const client = await SmtpClient.signIn({ port: portOf(addresses.submission) }, await makeLogin(rest, destination))
  t.teardown(() => client.quit())
  for (const from of senders) {
    const content = Buffer.from(`From: ${from}\r\nTo: ada@example.net\r\nSubject: Hello\r\n\r\nHello.\r\n`)
    for (let n = 0; n < many; n++) t.true((await client.send({ from: 'bounce@example.org', to: ['ada@example.net'], content })).accepted)
  }
}

test('domain.unknown: ten messages by REST and SMTP, until the domain is added', async (t) => {
  const daemon = await start(t)
  const { rest } = daemon
  await send(daemon, 'hello@studio-rigi.example', 9)
  await daemon.pass(halfMinute)
  t.deepEqual(await found(daemon), [])
  await sendBySmtp(t, daemon, 1, 'Hello <hello@Studio-Rigi.example>')
  await daemon.pass(halfMinute)
  const [row] = await Array.fromAsync(rest.rows('/v1/findings?group=domains'))
  const project = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  t.like(row, {
    ...{ kind: 'domain.unknown', subject: 'studio-rigi.example', project_id: project, severity: 'notice', state: 'open' },
    ...{ params: { domain: 'studio-rigi.example', count: 10, project: 'Default' } },
    title: 'studio-rigi.example sends, but is not added',
    summary:
      '10 messages of the project Default in the last 7 days are from studio-rigi.example, which is not added as a sending domain. Postern does not sign them or check its DNS records.',
    fix: 'Add studio-rigi.example as a sending domain and publish its DNS records, so that receivers can verify its mail.',
  })
  await rest.must('POST', '/v1/domains', { domain: 'studio-rigi.example' })
  await daemon.pass(halfMinute)
  t.deepEqual(await found(daemon), [])
  await send(daemon, 'hello@studio-rigi.example', 10)
  await send(daemon, 'hello@news.studio-rigi.example', 10)
  await daemon.pass(halfMinute)
  t.deepEqual(await found(daemon), [], 'the keys of a domain sign mail of its subdomains')
})

test('domain.unknown: a domain that is added covers its subdomains', async (t) => {
  const daemon = await start(t)
  await send(daemon, 'hello@news.studio-rigi.example', 10)
  await daemon.pass(halfMinute)
  t.deepEqual(await found(daemon), ['news.studio-rigi.example'])
  await daemon.rest.must('POST', '/v1/domains', { domain: 'studio-rigi.example' })
  await daemon.pass(halfMinute)
  t.deepEqual(await found(daemon), [])
})

test('domain.unknown: mailbox providers and names without a dot cannot be added', async (t) => {
  const daemon = await start(t)
  await sendBySmtp(t, daemon, 10, 'studio.rigi@gmail.com', 'studio.rigi@yahoo.co.uk', 'root@localhost')
  await daemon.pass(halfMinute)
  t.deepEqual(await found(daemon), [])
})
