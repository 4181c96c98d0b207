/** Failure notices: recipients, time, content and sending; a crash neither loses nor doubles one. */
import test, { type ExecutionContext } from '#test'
import { suppressions } from '#core/feedback/suppression/suppression.ts'
import { removeTrace } from '#core/retention/remove-trace.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import type { AttemptReport } from '#core/delivery/transport.ts'
import { serviceRef } from '#core/trace/trace-token.ts'
import { traces } from '#core/trace/trace.ts'
import { readReport } from '#ingest/report/report.ts'
import { Change } from '#store/change.ts'
import { StoreDamaged } from '#store/kv.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { organizationId, principal, secrets, type CoreFixture } from '../core-fixture.ts'
import { event, intakeOf } from '../feedback/reports.ts'
import { submit } from '../submission/smtp/smtp-fixture.ts'
import { report, take, type Call } from '../scripted-transport.ts'
import {
  author,
  gone,
  handedOver,
  message,
  minute,
  noticeTraces,
  noticing,
  outcomes,
  send,
  textOf,
  refusing,
  verifiedDomain,
} from './notices-fixture.ts'

/** Returns the fields of a notice for each recipient. */
const failedIn = (text: string) =>
  readReport(Buffer.from(text)).events.map(({ type, recipient, status, diagnostic }) => [type, recipient, status, diagnostic])

test('a refusal after 250 sends the author a notice that report parsers understand', async (t) => {
  const fixture = await noticing(t)
  const traceId = await send(fixture, { rcptTo: ['anna@example.net', gone] })
  t.is(handedOver(fixture).length, 0, 'recipients that end within a minute share a notice')
  t.deepEqual(outcomes(await fixture.trace(traceId)), ['due'])
  await fixture.assertSound(t)
  await fixture.pass(minute)
  const [call, ...others] = handedOver(fixture)
  t.is(others.length, 0)
  t.like(call?.job, { mailFrom: '', rcptTo: [author] })
  const text = await textOf(call)
  t.regex(text, /^From: Mail delivery <MAILER-DAEMON@mx\.postern\.test>\r$/m)
  for (const line of [
    'To: shop@example.com',
    'Auto-Submitted: auto-replied',
    'In-Reply-To: <a@b>',
    'Subject: Delivery failed: gone@example.net',
  ])
    t.true(text.includes(`\r\n${line}\r\n`), line)
  t.regex(text, /Content-Type: multipart\/report; report-type=delivery-status;/)
  t.true(text.includes(`X-Postern-Trace-Id: ${traceId}`))
  t.regex(text, /\r\nRemote-MTA: dns; smtp\.provider\.test\r\nDiagnostic-Code: smtp; 550 5\.1\.1 no such user\r\n/)
  t.regex(text, /Content-Type: text\/rfc822-headers/)
  t.false(text.includes('hello'), 'the header of the message, without its content')
  t.true(text.includes('Check the address for typing mistakes'), 'the next step')
  t.is(readReport(Buffer.from(text)).kind, 'dsn')
  t.deepEqual(failedIn(text), [['bounced', gone, '5.1.1', '550 5.1.1 no such user']])
  const [notice] = await noticeTraces(fixture)
  t.like(notice, { door: 'failure_notice', noticeOf: traceId, submittedBy: 'crd_1', status: 'sent' })
  t.like((await fixture.trace(traceId)).notices?.[0], { traceId: notice?.id })
  t.true(
    (await fixture.details(traceId)).includes(
      'author_notified: A notice about the failure was sent to the author shop@example.com, one of at most 3.',
    ),
  )
  await fixture.assertSound(t)
})

const silent: readonly [what: string, fields: readonly string[], changes: Parameters<typeof send>[1]][] = [
  ['the null reverse-path', [], { mailFrom: '' }],
  ['Auto-Submitted', ['Auto-Submitted: auto-generated'], {}],
  ['List-Id', ['List-Id: <news.example.com>'], {}],
  ['an unsubscribe link', ['List-Unsubscribe: <https://example.com/u>'], {}],
  ['Precedence: bulk', ['Precedence: bulk'], {}],
  ['a report of another server', ['Content-Type: multipart/report; report-type=delivery-status; boundary=b'], {}],
  ['a client of the public internet', [], { remoteAddress: '198.51.100.7' }],
  ['the author as the recipient', [], { mailFrom: 'gone@example.com', rcptTo: ['Gone@example.com'] }],
]
for (const [what, fields, changes] of silent)
  test(`no notice is sent because of ${what}`, async (t) => {
    const fixture = await noticing(t)
    const traceId = await send(fixture, { text: message(fields), ...changes })
    await fixture.pass(2 * minute)
    t.is((await fixture.trace(traceId)).status, 'failed')
    t.deepEqual(await noticeTraces(fixture), [])
    t.deepEqual(await fixture.keys('notice.due'), [])
    await fixture.assertSound(t)
  })

test('a notice shows raw 8-bit header fields in their charset', async (t) => {
  const fixture = await noticing(t)
  const subject = 'Grüße aus Köln'
  const written = message(['X-Name: Jürg']).replace('=?utf-8?q?Gr=C3=BCezi?=', subject)
  const traceId = await send(fixture, { rcptTo: [gone], text: Buffer.from(written, 'latin1') })
  t.is((await fixture.trace(traceId)).subject, subject)
  await fixture.pass(minute)
  const text = await textOf(handedOver(fixture)[0])
  for (const line of ['X-Name: J=C3=BCrg', 'Subject: Gr=C3=BC=C3=9Fe aus K=C3=B6ln']) t.true(text.includes(`\r\n${line}\r\n`), text)
})

test('Auto-Submitted: no is mail of a person', async (t) => {
  const fixture = await noticing(t)
  await send(fixture, { text: message(['Auto-Submitted: no']) })
  await fixture.pass(minute)
  t.is((await noticeTraces(fixture)).length, 1)
})

test('a reverse-path unrelated to the sender gets no notice', async (t) => {
  const fixture = await noticing(t)
  await fixture.credential('right', { allowedFromDomains: [], enforceHeaderFrom: false })
  await send(fixture, { mailFrom: 'victim@example.org' })
  await fixture.pass(minute)
  t.deepEqual(await noticeTraces(fixture), [])
  await verifiedDomain(fixture, 'example.org')
  await send(fixture, { mailFrom: 'editor@example.org' })
  await fixture.pass(minute)
  t.deepEqual(
    (await noticeTraces(fixture)).map(({ recipients }) => recipients[0]?.address),
    ['editor@example.org'],
  )
  t.regex(await textOf(handedOver(fixture)[0]), /^From: Mail delivery <MAILER-DAEMON@example\.org>\r$/m)
})

test('notices about mail of local names go to the recipient of local mail', async (t) => {
  const fixture = await noticing(t, { env: { POSTERN_SENDMAIL_LOCAL_RECIPIENT: 'admin@example.com' } })
  await fixture.credential('right', { allowedFromDomains: [], enforceHeaderFrom: false })
  for (const mailFrom of ['root@web1', 'cron@mx.postern.test']) await send(fixture, { mailFrom })
  await fixture.pass(minute)
  t.deepEqual(
    (await noticeTraces(fixture)).map(({ recipients }) => recipients[0]?.address),
    ['admin@example.com', 'admin@example.com'],
  )
})

test('a trace has at most three notices, one for each minute with final recipients', async (t) => {
  const fixture = await noticing(t, {
    retry: { delaysMs: Array.from({ length: 10 }, () => 2 * minute), maxAgeMs: 3_600_000 },
    script: (call) => {
      const { rcptTo } = call.job
      const verdicts = Object.fromEntries(
        rcptTo.map((address) => [address, address === `gone${call.nth}@example.net` ? 'permanent' : 'transient'] as const),
      )
      return call.job.mailFrom === '' ? take(call) : report(call, verdicts)
    },
  })
  const rcptTo = [1, 2, 3, 4, 5].map((n) => `gone${n}@example.net`)
  const traceId = await send(fixture, { rcptTo })
  await fixture.pass(30 * minute)
  const trace = await fixture.trace(traceId)
  t.is(trace.status, 'failed')
  t.deepEqual(outcomes(trace), ['sent', 'sent', 'sent'])
  const reported = await Promise.all(handedOver(fixture).map(textOf))
  t.deepEqual(
    reported.map((text) => failedIn(text).map(([, recipient]) => recipient)),
    rcptTo.slice(0, 3).map((address) => [address]),
  )
  await fixture.assertSound(t)
})

test('suppressed recipients appear in a notice with the entry and the way to remove it', async (t) => {
  const fixture = await noticing(t)
  const entry = {
    id: 'sup_1',
    email: 'ben@example.net',
    source: 'manual',
    reason: 'left the company',
    expiresAt: null,
    createdAt: startOfTime,
  }
  await fixture.put(suppressions, entry as never)
  const traceId = await send(fixture, { rcptTo: ['ben@example.net'] })
  t.is((await fixture.trace(traceId)).status, 'suppressed')
  await fixture.pass(minute)
  const text = await textOf(handedOver(fixture)[0])
  t.deepEqual(
    failedIn(text).map(([type, recipient, status]) => [type, recipient, status]),
    [['bounced', 'ben@example.net', '5.7.1']],
  )
  t.true(text.includes('The address is on the suppression list of this service: left the company'))
})

for (const verpEnabled of [true, false])
  test(`a bounce to ${verpEnabled ? 'our return path causes a notice' : 'the return path of the author causes no notice'}`, async (t) => {
    const fixture = await noticing(t, { script: (call) => take(call) })
    await fixture.credential('right', { allowedFromDomains: ['example.com'], verpEnabled })
    const traceId = await send(fixture, { rcptTo: ['anna@example.net'] })
    const { recipients } = await fixture.trace(traceId)
    const returnPaths = recipients.flatMap(({ verp }) => verp ?? [])
    const origin = verpEnabled
      ? { organizationId: null, sourceId: null, channel: 'return_path' }
      : { organizationId, sourceId: 'src_1', channel: 'signed' }
    await intakeOf(fixture).feedback.take(origin as never, [event({ clues: { returnPaths, references: [serviceRef(secrets, traceId)] } })])
    t.is((await fixture.trace(traceId)).status, 'bounced')
    await fixture.pass(minute)
    t.is((await noticeTraces(fixture)).length, verpEnabled ? 1 : 0)
    await fixture.assertSound(t)
  })

test('a notice is mail of the service if the destination sets the envelope sender', async (t) => {
  const systemDestination = `dst_${'0'.repeat(32)}`
  const fixture = await noticing(t, {
    env: { POSTERN_SYSTEM_DESTINATION: systemDestination, POSTERN_SYSTEM_FROM: 'Post <post@example.ch>' },
  })
  await fixture.destination({ preset: 'gmail' })
  const before = await send(fixture)
  await fixture.pass(minute)
  t.deepEqual(outcomes(await fixture.trace(before)), ['no_way'])
  t.regex(
    (await fixture.details(before)).join('\n'),
    /notice_withheld: No notice was sent to the author shop@example\.com: its destination does not keep/,
  )
  await fixture.destination({ id: systemDestination })
  const traceId = await send(fixture)
  await fixture.pass(minute)
  const [notice] = await noticeTraces(fixture, systemOrganizationId)
  t.like(notice, { mailFrom: 'post@example.ch', noticeOf: traceId, destinationId: systemDestination })
  t.like((await fixture.trace(traceId)).notices?.[0], { traceId: notice?.id, isSystemMail: true })
  await fixture.assertSound(t)
})

test('a failed notice causes no other notice', async (t) => {
  const fixture = await noticing(t)
  const traceId = await send(fixture, { mailFrom: 'gone@example.com', rcptTo: ['gone.too@example.net'] })
  await fixture.pass(10 * minute)
  const [notice, ...others] = await noticeTraces(fixture)
  t.deepEqual(others, [])
  t.like(notice, { noticeOf: traceId, status: 'failed' })
  t.is(handedOver(fixture).length, 1)
})

test('notices: two services that notify each other exchange one notice per message', async (t) => {
  const other = await noticing(t)
  await verifiedDomain(other, 'example.com')
  const handTo = async (peer: CoreFixture, call: Call): Promise<AttemptReport> => {
    await call.job.beforeFinalDot()
    const { mailFrom, rcptTo } = call.job
    const live = await peer.door.login('cms-user', 'right', '127.0.0.1')
    await submit(live, await textOf(call), { mailFrom, rcptTo, remoteAddress: '127.0.0.1' })
    return report(call, 'accepted')
  }
  // The mailbox of the author is gone too.
  const fixture = await noticing(t, { script: (call) => (call.job.mailFrom === '' ? report(call, 'permanent') : handTo(other, call)) })
  other.transport.script = (call) => (call.job.mailFrom === '' ? handTo(fixture, call) : refusing(call))
  await send(fixture)
  for (let passed = 0; passed < 4; passed++) for (const one of [other, fixture]) await one.pass(15 * minute)
  t.is(handedOver(fixture).length, 1, 'the notice of the other service arrived, and was refused')
  t.is((await noticeTraces(fixture)).length, 0)
  t.is((await noticeTraces(other)).length, 1)
})

test('a message retried while its notice is due has no notice', async (t) => {
  const fixture = await noticing(t)
  const traceId = await send(fixture)
  fixture.transport.script = (call) => take(call)
  await fixture.core.retries.retry(principal, traceId, { includeUnknown: false })
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'sent')
  await fixture.pass(minute)
  t.deepEqual(outcomes(await fixture.trace(traceId)), ['none_left'])
  t.deepEqual(await noticeTraces(fixture), [])
})

test('ledger: a crash at any write loses no notice and sends none twice', async (t) => {
  for (let at = 1, isOver = false; !isOver; at++) isOver = await crashedAt(t, at)
})

/** Sends a message that fails, and ends the process at this write. Returns true if there were fewer writes. */
async function crashedAt(t: ExecutionContext, at: number): Promise<boolean> {
  const fixture = await noticing(t)
  const submitted = await send(fixture)
  let writes = 0
  const stopped = Promise.withResolvers<void>()
  fixture.kv.beforeWrite = () => {
    if (++writes !== at) return undefined
    stopped.resolve()
    return new Promise(() => {})
  }
  const passed = fixture.pass(minute).then(() => 'all' as const)
  const isOver = (await Promise.race([passed, stopped.promise])) === 'all'
  const next = await fixture.crash()
  next.part('failureNotices').start()
  await next.queue.start()
  await next.settled()
  await next.pass(2 * minute)
  t.is((await noticeTraces(next)).length, 1, `ledger: one notice after a crash at write ${at}`)
  t.deepEqual(outcomes(await next.trace(submitted)), ['sent'], `ledger: it is marked as sent after a crash at write ${at}`)
  await next.assertSound(t, `after a crash at write ${at}`)
  return isOver
}

test('a notice row is deleted with its trace; verify finds a row or trace without the other', async (t) => {
  const fixture = await noticing(t)
  const traceId = await send(fixture)
  t.is((await fixture.keys('notice.due')).length, 1)
  t.true(await removeTrace(fixture.database, organizationId, traceId, fixture.clock.now()))
  t.deepEqual(await fixture.keys('notice.due'), [])
  await fixture.assertSound(t)
  const other = await send(fixture)
  const { notices = [] } = await fixture.trace(other)
  const key = ['', 'notice.due', notices[0]?.dueAt ?? 0, organizationId, other] as const
  await fixture.database.commit(new Change().delete(key))
  t.regex((await fixture.problems()).join('\n'), /its notice to the author is due, and nothing finds it then/)
  const stored = await fixture.database.get(traces, { organizationId }, other)
  if (!stored) throw new Error('the trace is missing')
  await fixture.database.commit(new Change().set(key).rewrite(traces, organizationId, stored, { ...stored.record, notices: [] }))
  t.regex((await fixture.problems()).join('\n'), new RegExp(`the trace ${other} has no notice that is due then`))
})

test('a damaged trace does not block notices of other traces', async (t) => {
  const fixture = await noticing(t)
  const hidden = await send(fixture)
  await send(fixture)
  const { kv } = fixture.database
  const get = kv.get.bind(kv)
  kv.get = (key) => (Buffer.from(key).includes(hidden) ? Promise.reject(new StoreDamaged('rows may be missing', { key })) : get(key))
  await fixture.pass(minute)
  t.is(handedOver(fixture).length, 1)
  t.is((await fixture.keys('notice.due')).length, 0)
  t.deepEqual(
    fixture.errors.splice(0).map((error) => error instanceof StoreDamaged),
    [true],
  )
})

test('a failed read of the due notices delays them by a minute at most', async (t) => {
  const fixture = await noticing(t)
  let isFailing = true
  fixture.kv.onLook = ([key]) => {
    if (isFailing && key && Buffer.from(key).includes('notice.due')) throw new Error('the disk did not answer')
  }
  await send(fixture)
  isFailing = false
  t.true(fixture.errors.splice(0).length > 0)
  await fixture.pass(2 * minute)
  t.is(handedOver(fixture).length, 1)
})

test('notices count towards no budget and no plan limit', async (t) => {
  const fixture: CoreFixture = await noticing(t)
  await fixture.project({ sendBudget: 1 })
  await send(fixture)
  await fixture.pass(minute)
  t.is((await noticeTraces(fixture)).length, 1)
  await fixture.assertSound(t)
})

test('credential settings: notices on for every client, off, and a different address', async (t) => {
  const fixture = await noticing(t)
  const credential = { allowedFromDomains: ['example.com'] }
  const remoteAddress = '198.51.100.7'
  await fixture.credential('right', { ...credential, failureNotices: 'on' })
  await send(fixture, { remoteAddress })
  await fixture.pass(minute)
  t.is((await noticeTraces(fixture)).length, 1)
  await fixture.credential('right', { ...credential, failureNoticeTo: 'admin@example.org' })
  await send(fixture)
  await fixture.pass(minute)
  t.deepEqual(
    handedOver(fixture).map(({ job }) => job.rcptTo),
    [[author], ['admin@example.org']],
  )
  const late = await send(fixture)
  await fixture.credential('right', { ...credential, failureNotices: 'off' })
  await send(fixture)
  await fixture.pass(minute)
  t.deepEqual(outcomes(await fixture.trace(late)), ['off'], 'switched off while it was due')
  t.is((await noticeTraces(fixture)).length, 2)
})
