/** Diagnoses with the whole daemon: mail that a smart host accepts, defers and refuses, and mail that never reached it. */
import { createHmac } from 'node:crypto'
import ava, { type TestFn } from '#test'
import { Daemon } from '../../support/daemon/daemon.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { Sink, type Sink as SinkType } from '../../support/smtp/sink.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { closedPort, closedUdpPort } from '../../support/network/held-port.ts'
import { column } from '../../support/column.ts'

interface Missing {
  readonly verdict: string
  readonly confidence: number
  readonly summary: string
  readonly hypotheses: readonly {
    readonly id: string
    readonly rank: number
    readonly explanation: string
    readonly evidence: readonly { readonly kind: string; readonly detail: string; readonly trace_id?: string }[]
    readonly next_action: { readonly text: string; readonly tool?: string; readonly arguments?: Readonly<Record<string, string>> }
  }[]
  readonly traces: readonly { readonly trace_id: string; readonly status: string }[]
  readonly not_checked: readonly { readonly what: string }[]
}

interface Bounce {
  readonly found: boolean
  readonly trace_id: string
  readonly recipient: string
  readonly bounced_at: string | null
  readonly stage: string
  readonly source: string
  readonly reply: { readonly code: number; readonly enhanced: string; readonly text: string }
  readonly registry: { readonly name: string; readonly rfc: string }
  readonly category: string
  readonly bounce: string | null
  readonly plain_reason: string
  readonly next_actions: readonly string[]
  readonly suppress: { readonly recommended: boolean; readonly done: boolean; readonly flag: boolean; readonly reason: string | null }
  readonly retry: { readonly useful: boolean; readonly when: string }
  readonly provider: string | null
  readonly provider_link: string | null
  readonly related: { readonly same_recipient: number; readonly same_domain_last_24h: number; readonly same_reply_last_24h: number }
}

interface DiagnoseFixture {
  readonly rest: RestClient
  readonly daemon: Daemon
  readonly sink: SinkType
  readonly destinationId: string
  send(to: string | readonly string[], changes?: object): Promise<string>
  settled(traceId: string, isSettled: (trace: Readonly<Record<string, unknown>>) => boolean): Promise<void>
  missing(recipient: string, rest?: RestClient): Promise<Missing>
  bounce(messageId: string, recipient?: string, rest?: RestClient): Promise<Bounce>
}

const replies: Readonly<Record<string, string>> = {
  gone: '550 5.1.1 <x>: no such user here, see https://help.example.org/user',
  gone2: '550 5.1.1 <y>: no such user here, see https://help.example.org/user',
  grey: '450 4.7.1 Greylisted, come again',
  blocked: '554 5.7.1 listed by zen.spamhaus.org, see https://check.example.org/ip',
}

const test = ava as TestFn<DiagnoseFixture>

/** One daemon for all tests, which run one at a time: counts must not depend on parallel tests. */
test.before(async (t) => {
  const folder = await temporaryFolder('diagnose')
  const sink = await Sink.listen({
    script: {
      recipient: (address) => replies[address.slice(0, address.indexOf('@'))],
      message: () => '250 2.0.0 Ok: queued as 4bXyZ91Qwz',
    },
  })
  const dns = await closedUdpPort({ teardown: (end) => ends.push(async () => end()) }) // the report marks DNS checks as not done
  const daemon = await Daemon.start({ folder: folder.path, env: { POSTERN_DNS_SERVERS: `127.0.0.1:${dns}` } })
  ends.push(async () => {
    await daemon[Symbol.asyncDispose]()
    await sink[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })
  const { rest } = daemon
  const destinationId = await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' })
  await makeRoute(rest, destinationId)
  const read = async (path: string, query: object, client: RestClient): Promise<unknown> =>
    client.must('GET', `/v1/diagnose/${path}?${new URLSearchParams({ ...query }).toString()}`)
  t.context = {
    ...{ rest, daemon, sink, destinationId },
    send: async (to, changes = {}) =>
      String((await rest.must('POST', '/v1/messages', { from: 'shop@example.com', to, subject: 'x', text: 'x', ...changes }))['trace_id']),
    settled: async (traceId, isSettled) =>
      void (await waitFor('the message is as far', async () => isSettled(await rest.must('GET', `/v1/traces/${traceId}`)))),
    missing: async (recipient, client = rest) => (await read('missing', { recipient }, client)) as Missing,
    bounce: async (message_id, recipient, client = rest) =>
      (await read('bounce', { message_id, ...(recipient !== undefined && { recipient }) }, client)) as Bounce,
  }
})

const ends: (() => Promise<void>)[] = []
test.after.always(async () => {
  for (const end of ends) await end()
})

test.serial('diagnose: a refusal with its cause, the next step and the number of equal ones', async (t) => {
  const { send, settled, missing, bounce, rest } = t.context
  const first = await send('gone@example.org')
  const second = await send('gone2@example.org')
  for (const id of [first, second]) await settled(id, ({ status }) => status === 'failed')

  const seen = await bounce(first)
  t.is(seen.recipient, 'gone@example.org')
  t.truthy(seen.bounced_at)
  t.deepEqual([seen.stage, seen.source, seen.category, seen.bounce], ['rcpt', 'smtp', 'recipient_unknown', 'hard'])
  t.deepEqual([seen.reply.code, seen.reply.enhanced], [550, '5.1.1'])
  t.deepEqual(seen.registry, { name: 'Bad destination mailbox address', rfc: 'RFC 3463' })
  t.regex(seen.plain_reason, /^The cause is the address\. The mailbox does not exist at that domain\. 1 other message got the same reply/)
  t.like(seen.suppress, { recommended: true, done: false, flag: false })
  t.regex(seen.suppress.reason ?? '', /bounce_auto_suppress is off/)
  t.is(seen.retry.useful, false)
  t.is(seen.provider_link, 'https://help.example.org/user')
  t.like(seen.related, { same_recipient: 0, same_domain_last_24h: 1, same_reply_last_24h: 1 })
  t.regex(seen.next_actions.join('\n'), /Suppress gone@example\.org/)

  await rest.must('POST', '/v1/suppressions', { email: 'gone@example.org' })
  const after = await bounce(first)
  t.like(after.suppress, { done: true, reason: null })
  t.notRegex(after.next_actions.join('\n'), /Put gone@example\.org/)

  const lost = await missing('GONE@example.org')
  t.is(lost.verdict, 'bounced')
  t.is(lost.hypotheses[0]?.id, 'refused')
  t.deepEqual(lost.hypotheses[0]?.next_action.arguments, { message_id: first })
  t.regex(lost.hypotheses[0]?.evidence.map(({ detail }) => detail).join('\n') ?? '', /550 5\.1\.1/)
  t.true(lost.not_checked.some(({ what }) => what === 'Whether the domain of the recipient accepts mail'))
})

test.serial('diagnose: a block names the sender, the link in the reply, the other recipients', async (t) => {
  const { send, settled, bounce } = t.context
  const id = await send(['blocked@blocks.example', 'gone@blocks.example', 'ada@blocks.example'])
  await settled(id, ({ status }) => status === 'failed')
  const seen = await bounce(id, 'Blocked@blocks.example')
  t.deepEqual([seen.stage, seen.bounce, seen.category, seen.suppress.recommended], ['rcpt', 'block', 'reputation', false])
  t.is(seen.provider_link, 'https://check.example.org/ip')
  t.regex(seen.plain_reason, /reputation of the sending IP address or domain, not the recipient/)
  t.regex(seen.next_actions.join('\n'), /1 more of its recipients failed; repeat the request with recipient= for gone@blocks\.example/)
  const taken = await bounce(id, 'ada@blocks.example')
  t.deepEqual([taken.found, taken.bounce, taken.bounced_at], [true, null, null])
  t.regex(taken.plain_reason, /It has not bounced: the next server accepted it/)
})

test.serial('diagnose: a deferral is not a bounce and has the time of the retry', async (t) => {
  const { send, settled, missing, bounce } = t.context
  const id = await send('grey@grey.example')
  await settled(id, ({ attempts }) => attempts === 1)
  const lost = await missing('grey@grey.example')
  t.is(lost.verdict, 'deferred')
  t.is(lost.hypotheses[0]?.id, 'deferred_greylisting')
  t.regex(lost.summary, /1 attempt failed: Greylisting.* The next attempt is due at /)
  const seen = await bounce(id)
  t.deepEqual([seen.bounce, seen.bounced_at, seen.category, seen.suppress.recommended], [null, null, 'greylisting', false])
  t.regex(seen.plain_reason, /^It has not bounced: it is retried at /)
  t.regex(seen.retry.when, /^automatically at /)
})

test.serial("diagnose: delivered mail is found by the next host's queue id", async (t) => {
  const { send, settled, missing, bounce, destinationId } = t.context
  const id = await send('ada@taken.example')
  await settled(id, ({ status }) => status === 'sent')
  const lost = await missing('ada@taken.example')
  t.deepEqual([lost.verdict, lost.hypotheses[0]?.id], ['accepted_by_remote', 'accepted'])
  t.regex(lost.hypotheses[0]?.next_action.text ?? '', /postmaster of taken\.example to look for the queue id 4bXyZ91Qwz at /)
  t.true(lost.not_checked.some(({ what }) => what === 'SPF, DKIM and DMARC of example.com'))
  t.deepEqual(column(lost.traces, 'trace_id'), [id])
  for (const messageId of [id, `<${id}@example.com>`, `${id}@example.com`, '4bXyZ91Qwz', '4BXYZ91QWZ'])
    t.is((await bounce(messageId)).trace_id, id, messageId)
  for (const messageId of [`${id}@example.net`, 'bXyZ91Qwz', 'queued', destinationId]) t.false((await bounce(messageId)).found, messageId)
})

test.serial('diagnose: names an unreachable destination and suggests its test', async (t) => {
  const { rest, send, settled, missing } = t.context
  const dead = await makeDestination(rest, { name: 'Dead', port: await closedPort(t), mode: 'live' })
  const id = await send('ada@dead.example', { destination_id: dead })
  await settled(id, ({ attempts }) => Number(attempts) > 0)
  const lost = await missing('ada@dead.example')
  t.is(lost.verdict, 'deferred')
  t.regex(lost.hypotheses[0]?.explanation ?? '', /The host refused the connection/)
})

test.serial('diagnose: a later bounce is shown with the text of its server', async (t) => {
  const { rest, daemon, sink, send, settled, missing, bounce } = t.context
  const id = await send('ada@later.example')
  const delivery = await waiting(
    'the message is there',
    sink.delivered(({ to }) => to.includes('ada@later.example')),
  )
  await settled(id, ({ status }) => status === 'sent')
  const reference = /^X-Service-Ref: \S+/m.exec(delivery.content.toString('latin1'))?.[0] ?? ''
  const source = await rest.must('POST', '/v1/ingest-sources', { provider: 'arf' })
  const notice = Buffer.from(noticeAbout(reference))
  const signature = createHmac('sha256', String(source['hmac_secret'])).update(notice).digest('hex')
  const answer = await fetch(`http://${daemon.addresses.http}/v1/ingest/arf?source_id=${String(source['id'])}`, {
    method: 'POST',
    headers: { 'content-type': 'message/rfc822', 'x-service-signature': `sha256=${signature}` },
    body: notice,
  })
  t.is(answer.status, 202, await answer.text())
  const seen = await bounce(id)
  t.deepEqual([seen.stage, seen.source, seen.bounce, seen.category], ['after_acceptance', 'dsn', 'soft', 'mailbox_full'])
  t.deepEqual([seen.reply.code, seen.reply.enhanced], [552, '5.2.2'])
  t.is((await missing('ada@later.example')).verdict, 'bounced')
})

const noticeAbout = (reference: string): string =>
  [
    'From: MAILER-DAEMON@mx.later.example',
    'To: shop@example.com',
    'Subject: Undelivered Mail Returned to Sender',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Your message could not be delivered.',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.later.example',
    '',
    'Final-Recipient: rfc822; ada@later.example',
    'Action: failed',
    'Status: 5.2.2',
    'Remote-MTA: dns; mx.later.example',
    'Diagnostic-Code: smtp; 552 5.2.2 Mailbox is full',
    '',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    reference,
    'Subject: x',
    '',
    '--b--',
    '',
  ].join('\r\n')

test.serial('diagnose: other organizations and projects find nothing', async (t) => {
  const { rest, daemon, send, settled, missing, bounce } = t.context
  const id = await send('gone@foreign.example')
  await settled(id, ({ status }) => status === 'failed')
  const team = await rest.must('POST', '/v1/organizations', { name: 'Team' })
  const project = await rest.must('POST', '/v1/projects', { name: 'Other' })
  const key = await rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:read'], project_id: project['id'] })
  for (const secret of [team['api_key'], key['key']]) {
    using outsider = new RestClient(daemon.addresses.http, String(secret))
    t.is((await missing('gone@foreign.example', outsider)).verdict, 'not_sent')
    t.deepEqual((await missing('gone@foreign.example', outsider)).traces, [])
    t.deepEqual(
      (await missing('gone+tag@foreign.example', outsider)).hypotheses.map(({ id: one }) => one),
      ['not_sent'],
    )
    for (const messageId of [id, `${id}@example.com`]) t.false((await bounce(messageId, undefined, outsider)).found)
  }
})
