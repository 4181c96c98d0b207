/** Reports to the MX listener: an acknowledged report survives a kill and counts once; mail without a known recipient is refused. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { portOf, type Daemon } from '../../support/daemon/daemon.ts'
import { livesOf, type Lives } from '../../support/daemon/daemon-lives.ts'
import { waitFor } from '../../support/waits.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient, type Answer } from '../../support/smtp/smtp-client.ts'
import { traceIdOf } from '../../support/smtp/smtp-replies.ts'
import { assertVerified } from '../../support/problems.ts'

const [anna, ben] = ['anna@peer.test', 'ben@peer.test'] as const

const notice = (recipient: string, status = '5.1.1'): string =>
  [
    'From: MAILER-DAEMON@mx.peer.test',
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    '',
    'It could not be delivered.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.peer.test',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    `Status: ${status}`,
    `Diagnostic-Code: smtp; 550 ${status} no such user`,
    '',
    '--b--',
    '',
  ].join('\r\n')

interface Place extends Pick<Lives, 'folder' | 'verify'> {
  daemon: Daemon
  readonly traceId: string
  /** Return paths by recipient. */
  readonly paths: Readonly<Record<string, string>>
  restart(): Promise<void>
}

async function place(t: ExecutionContext): Promise<Place> {
  const sink = await Sink.listen()
  const { folder, start, verify } = await livesOf(t, 'bounces', { POSTERN_INBOUND_DOMAIN: 'bounces.site.test' }, sink)
  const daemon = await start()
  const destination = await makeDestination(daemon.rest, { name: 'sink', port: sink.port, mode: 'live' })
  const login = await makeLogin(daemon.rest, destination, { verp_enabled: true })
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  const content = Buffer.from('From: shop@site.test\r\nSubject: Your order\r\n\r\nThank you.\r\n')
  const { reply } = await client.send({ from: 'shop@site.test', to: [anna, ben], content })
  await client.quit()
  const traceId = String(traceIdOf(reply))
  const trace = await waitFor('the message is sent', async () => {
    const found = await daemon.rest.must('GET', `/v1/traces/${traceId}`)
    return found['status'] === 'sent' ? found : undefined
  })
  const recipients = trace['recipients'] as { readonly address: string; readonly return_path: string }[]
  const here: Place = {
    ...{ folder, daemon, traceId, verify },
    paths: Object.fromEntries(recipients.map(({ address, return_path }) => [address, return_path])),
    restart: async () => void (here.daemon = await start()),
  }
  return here
}

async function deliver({ daemon }: Place, to: readonly string[], content: string, from = ''): Promise<Answer> {
  const client = await SmtpClient.connect({ port: portOf(daemon.addresses.mx[0]) })
  const answer = await client.send({ from, to, content: Buffer.from(content) })
  await client.quit()
  return answer
}

async function details({ daemon, traceId }: Place) {
  const trace = await daemon.rest.must('GET', `/v1/traces/${traceId}`)
  const recipients = trace['recipients'] as { readonly address: string; readonly status: string }[]
  const timeline = trace['timeline'] as { readonly event: string }[]
  return {
    statuses: recipients.map(({ address, status }) => `${address} ${status}`),
    count: (event: string): number => timeline.filter((entry) => entry.event === event).length,
  }
}

test.serial('bounces: an acknowledged one survives a kill; duplicates count once', async (t) => {
  const here = await place(t)
  const bounce = [String(here.paths[anna])]
  const { accepted, reply } = await deliver(here, bounce, notice(anna))
  t.true(accepted, reply.lines.join(' '))
  await here.daemon.kill()
  await here.restart()
  t.deepEqual((await details(here)).statuses, [`${anna} bounced`, `${ben} sent`])

  // the return path identifies the recipient, regardless of the notice and of changes to the path in transit
  const [local = '', domain = ''] = bounce.join('').split('@')
  t.true((await deliver(here, [`SRS0=HHHH=TT=${domain}=${local.toUpperCase()}@${domain}`], notice(ben))).accepted)
  t.true((await deliver(here, [local.toUpperCase() + '@' + domain], notice(anna, '5.2.1'))).accepted)
  const after = await details(here)
  t.deepEqual(after.statuses, [`${anna} bounced`, `${ben} sent`])
  t.is(after.count('bounced'), 1)
  t.is((await here.daemon.stop()).code, 0)
  assertVerified(t, await here.verify())
})

test.serial('bounces: one with broken line ends is parsed', async (t) => {
  const here = await place(t)
  const [head = '', fields = ''] = notice(anna).split(/(?<=delivery-status)\r\n\r\n/)
  const encoded = Buffer.from(fields.split('--b--')[0] ?? '').toString('base64')
  const mail = `${head}\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded}\r\n--b--\r\n`
  const { accepted, reply } = await deliver(here, [String(here.paths[anna])], mail.replaceAll('\r\n', '\r\r\n'))
  t.true(accepted, reply.lines.join(' '))
  t.deepEqual((await details(here)).statuses, [`${anna} bounced`, `${ben} sent`])
  const seen = await here.daemon.rest.must('GET', `/v1/diagnose/bounce?message_id=${here.traceId}`)
  t.like(seen, { bounce: 'hard', reply: { code: 550, enhanced: '5.1.1', text: '550 5.1.1 no such user' } })
})

test.serial('bounces: unknown recipients are refused; forged or invalid mail has no effect', async (t) => {
  const here = await place(t)
  const path = String(here.paths[ben])
  for (const address of [`ben@bounces.site.test`, path.replace('@', '0@'), path.replace(/.(?=@)/, (c) => (c === '0' ? '1' : '0')), ben]) {
    const { accepted, reply } = await deliver(here, [address], notice(ben))
    t.false(accepted)
    t.regex(reply.lines.join(' '), /^5\.1\.1 /, address)
  }
  t.true((await deliver(here, [path], 'From: MAILER-DAEMON@mx.peer.test\r\nSubject: hm\r\n\r\n???\r\n')).accepted)
  // without our return path, the recipient is unknown
  t.true((await deliver(here, ['postmaster@bounces.site.test'], notice(ben))).accepted)
  t.true((await deliver(here, ['abuse@bounces.site.test'], 'Subject: spam from you\r\n\r\nStop.\r\n', 'ada@peer.test')).accepted)

  const { statuses, count } = await details(here)
  t.deepEqual(statuses, [`${anna} sent`, `${ben} sent`])
  t.deepEqual([count('bounced'), count('bounce_unparsed')], [0, 1])
  const box = join(here.folder, 'data', 'postmaster', 'new')
  const kept = await Promise.all((await readdir(box)).map((name) => readFile(join(box, name), 'latin1')))
  t.is(kept.length, 2)
  t.true(kept.some((mail) => mail.startsWith('Return-Path: <ada@peer.test>\r\nX-Service-Loop: ') && mail.includes('\r\n\r\nStop.\r\n')))
})

test.serial('destination pointing to this daemon: misconfigured, without a mail loop', async (t) => {
  const here = await place(t)
  const { rest, addresses } = here.daemon
  for (const address of [addresses.mx[0], addresses.submission[0]]) {
    const destination = await makeDestination(rest, { name: `self ${String(address)}`, port: portOf(address), mode: 'live' })
    const sent = await rest.must('POST', '/v1/messages', {
      ...{ from: 'shop@site.test', to: [anna], subject: 'Round and round', text: 'Hello', destination_id: destination },
    })
    const told = await waitFor('the attempt is reported', async () => {
      const trace = JSON.stringify(await rest.must('GET', `/v1/traces/${String(sent['trace_id'])}`))
      return trace.includes('The host is this service itself') ? trace : undefined
    })
    t.regex(told, /destination_misconfigured/)
  }
})
