/** Reports that are posted: samples, signatures, compression, the outcome for messages, and the response to the poster. */
import { gzipSync } from 'node:zlib'
import test from '#test'
import { ingestProviders } from '#core/ingest-sources/ingest-source.ts'
import { removeTrace } from '#core/retention/remove-trace.ts'
import { pack, within } from '#store/tuple.ts'
import { startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import {
  addSampleSource,
  addSource,
  post,
  postSigned,
  returnPathOf,
  sample,
  sampleSignature,
  sentMessage,
  signature,
  switchFlag,
  traceOf,
} from '../fixture/ingest-posts.ts'
import { assertSound } from '../../../support/problems.ts'
import { column } from '../../../support/column.ts'
import { Seeded } from '../../../support/seeded.ts'

const stalwart = '/v1/ingest/stalwart'

/** Returns all rows, except the rows that record the last report of a source. */
async function rows({ daemon, database }: Fixture): Promise<string[]> {
  await daemon.settled()
  const found: string[] = []
  for await (const { key, value } of database.kv.range({ start: pack(['']), end: Buffer.of(0xff) })) {
    const text = Buffer.from(key).toString('latin1')
    if (!text.includes('ingest.seen')) found.push(`${text} ${Buffer.from(value).toString('latin1')}`)
  }
  return found
}

test('samples of Stalwart are accepted with their own signatures; repeating them has no effect', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSampleSource(fixture, 'stalwart')
  const give = (name: string, path = stalwart) =>
    post(fixture, `${path}${path.includes('?') ? '&' : '?'}source_id=${source.id}`, sample(name), sampleSignature(name))
  const first = await give('stalwart-webhook.json')
  t.like(first, { status: 202, body: { accepted: 6, unmatched: 5, duplicates: 0, ignored: 3, rejected: [] } })
  const before = await rows(fixture)
  for (const name of ['stalwart-webhook.json', 'stalwart-webhook-retry.json'])
    t.like(await give(name), { status: 202, body: { accepted: 0, duplicates: 6, ignored: 3 } })
  t.like(await give('stalwart-single-event.json'), { status: 202, body: { accepted: 0, duplicates: 1 } })
  t.deepEqual(await rows(fixture), before)
  const log = await give('stalwart-log.jsonl', '/v1/ingest/logs?source=stalwart')
  t.like(log, { status: 202, body: { ignored: 1 } })
  t.deepEqual(column(log.body['rejected'] as { line: number }[], 'line'), [6, 7])
  t.like(await give('stalwart-log.jsonl', '/v1/ingest/logs?source=stalwart'), { status: 202, body: { accepted: 0, duplicates: 4 } })
})

test('a Stalwart webhook, its log and a bounce mail report one bounce, which counts once', async (t) => {
  const fixture = await startFixture(t)
  const trace = await sentMessage(fixture, ['nobody@example.net', 'busy@example.org'])
  const [hook, mail] = [await addSource(fixture, 'stalwart'), await addSource(fixture, 'arf')]
  const told = sample('stalwart-single-event.json').toString().replace('b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com', returnPathOf(trace))
  t.like(await postSigned(fixture, stalwart, hook, told), { status: 202, body: { accepted: 1, unmatched: 0 } })
  t.like(await postSigned(fixture, '/v1/ingest/logs?source=stalwart', hook, told), { status: 202, body: { accepted: 0, duplicates: 1 } })
  const bounce = await postSigned(fixture, '/v1/ingest/arf', mail, bounceMail(returnPathOf(trace), 'nobody@example.net'))
  t.like(bounce, { status: 202, body: { kind: 'dsn' } })
  t.like((bounce.body['events'] as object[])[0], { type: 'bounced', result: 'duplicate', bounce: 'hard', trace_id: trace.id })
  const shown = await traceOf(fixture, trace)
  t.is(shown['status'], 'bounced')
  t.like((shown['recipients'] as object[])[0], { status: 'bounced', report: { type: 'bounced', bounce: 'hard' } })
  t.like((shown['recipients'] as object[])[1], { status: 'sent', report: null })
  const bounces = (shown['timeline'] as { event: string; detail: { report_id: string | null } }[]).filter(
    ({ event }) => event === 'bounced',
  )
  t.deepEqual(column(bounces, 'detail', 'report_id'), [null])
})

test('a Stalwart signature is valid for its own sources only', async (t) => {
  const fixture = await startFixture(t)
  const name = 'stalwart-log.jsonl'
  const body = sample(name)
  for (const provider of ingestProviders) {
    const source = await addSampleSource(fixture, provider)
    for (const path of [stalwart, '/v1/ingest/logs?source=stalwart', '/v1/ingest/logs?source=postfix', '/v1/ingest/arf']) {
      const answer = await post(fixture, `${path}${path.includes('?') ? '&' : '?'}source_id=${source.id}`, body, sampleSignature(name))
      if (provider === 'stalwart') t.not(answer.status, 401, path)
      else t.like(answer, { status: 401, body: { error: { code: 'invalid_signature' } } }, `${provider} ${path}`)
    }
  }
})

test('getReportMail returns the mail of a report until its trace is deleted', async (t) => {
  const fixture = await startFixture(t)
  const trace = await sentMessage(fixture, ['nobody@example.net'])
  const source = await addSource(fixture, 'dovecot')
  const mail = bounceMail(returnPathOf(trace), 'nobody@example.net')
  t.is((await postSigned(fixture, '/v1/ingest/arf', source, mail)).status, 202)
  const { timeline } = (await traceOf(fixture, trace)) as { timeline: { event: string; detail: { report_id?: string } }[] }
  const id = timeline.find(({ event }) => event === 'bounced')?.detail.report_id ?? ''
  const path = `/v1/traces/${trace.id}/reports/${id}`
  t.is((await fixture.rest.call('GET', path)).bytes.toString(), mail)
  await assertSound(t, fixture)
  t.true(await removeTrace(fixture.database, fixture.organizationId, trace.id, fixture.clock.now()))
  t.is((await fixture.rest.call('GET', path)).status, 404)
  await assertSound(t, fixture)
})

test('a wrong signature, an unknown source and a revoked source get the same refusal', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'stalwart')
  const gone = await addSource(fixture, 'stalwart')
  const body = sample('stalwart-webhook.json')
  t.is((await postSigned(fixture, stalwart, gone, body)).status, 202)
  const removed = await fixture.rest.call('DELETE', `/v1/ingest-sources/${gone.id}`)
  t.is(removed.status, 204)
  t.is((await fixture.rest.call('DELETE', `/v1/ingest-sources/${gone.id}`)).status, 204)
  const before = await rows(fixture)
  const flipped = Buffer.from(body)
  flipped[100] = (flipped[100] ?? 0) ^ 1
  const right = signature(source.secret, body)
  const at = (id: string): string => `${stalwart}?source_id=${id}`
  const answers = [
    await post(fixture, at(source.id), flipped, { 'x-service-signature': right }),
    await post(fixture, at(source.id), body, { 'x-service-signature': right.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) }),
    await post(fixture, at(source.id), body, { 'x-service-signature': right.slice(0, -2) }),
    await post(fixture, at(source.id), body, { 'x-signature': 'AAAA' }),
    await post(fixture, at(source.id), body),
    await post(fixture, stalwart, body, { 'x-service-signature': right }),
    await post(fixture, at('src_0'), body, { 'x-service-signature': right }),
    await postSigned(fixture, stalwart, gone, body),
    await post(fixture, at(gone.id), body, { 'x-service-signature': right }),
  ]
  for (const { status, body: told } of answers) {
    t.is(status, 401)
    t.like(told, { error: { code: 'invalid_signature', next_action: 'check_secret' } })
  }
  t.is(new Set(answers.map(({ body: told }) => (told['error'] as { message: string }).message)).size, 1)
  t.deepEqual(await rows(fixture), before)
})

test('signature: a body with any flipped byte is refused and changes nothing', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'stalwart')
  const body = sample('stalwart-single-event.json')
  const right = { 'x-service-signature': signature(source.secret, body) }
  const before = await rows(fixture)
  for (let at = 0; at < body.length; at += 7) {
    const flipped = Buffer.from(body)
    flipped[at] = (flipped[at] ?? 0) ^ 0x20
    t.is((await post(fixture, `${stalwart}?source_id=${source.id}`, flipped, right)).status, 401)
  }
  t.deepEqual(await rows(fixture), before)
})

test('concurrent copies of the same body count once', async (t) => {
  const fixture = await startFixture(t)
  await switchFlag(fixture, 'bounce_auto_suppress', true)
  const source = await addSource(fixture, 'stalwart')
  const trace = await sentMessage(fixture, ['nobody@example.net'])
  const told = sample('stalwart-single-event.json').toString().replace('b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com', returnPathOf(trace))
  const answers = await Promise.all(Array.from({ length: 12 }, () => postSigned(fixture, stalwart, source, told)))
  t.true(answers.every(({ status }) => status === 202))
  t.is(answers.filter(({ body }) => body['accepted'] === 1).length, 1)
  const { timeline } = (await traceOf(fixture, trace)) as { timeline: { event: string }[] }
  t.deepEqual(column(timeline.slice(-2), 'event'), ['bounced', 'auto_suppressed'])
  const { data } = (await fixture.rest.must('GET', '/v1/suppressions')) as { data: { source: string; email: string }[] }
  t.like(data, [{ source: 'bounce', email: 'nobody@example.net' }])
  await assertSound(t, fixture)
})

test('a header may name the source, which must belong to the right provider', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'postfix')
  const body = Buffer.from('')
  const headers = { 'x-service-signature': signature(source.secret, body), 'x-service-ingest-source': source.id }
  t.is((await post(fixture, '/v1/ingest/logs?source=postfix', body, headers)).status, 202)
  const wrong = await post(fixture, '/v1/ingest/logs?source=stalwart', body, headers)
  t.like(wrong, { status: 400, body: { error: { code: 'validation_failed' } } })
  t.regex(JSON.stringify(wrong.body), /a postfix source/)
  t.is((await post(fixture, '/v1/ingest/logs?source=other', body, headers)).status, 400)
  t.is((await post(fixture, '/v1/ingest/activity-logs?source=stalwart', body, headers)).status, 400)
})

test('the address shown for a source accepts its posts', async (t) => {
  const fixture = await startFixture(t)
  for (const provider of ingestProviders) {
    const source = await addSource(fixture, provider)
    const url = new URL(source.webhookUrl)
    t.is(url.origin, 'https://post.example.ch')
    const body = Buffer.from('{"version": 1, "events": []}')
    const { status } = await post(fixture, url.pathname + url.search, body, { 'x-service-signature': signature(source.secret, body) })
    t.is(status, 202, provider)
  }
})

test('compressed bodies are signed as sent and inflate up to the limit', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'stalwart')
  const gzip = { 'content-encoding': 'gzip' }
  const packed = gzipSync(sample('stalwart-webhook.json'))
  t.like(await postSigned(fixture, stalwart, source, packed, gzip), { status: 202, body: { accepted: 6 } })
  const before = await rows(fixture)
  const bomb = gzipSync(Buffer.alloc(70 * 1024 * 1024, 0x0a))
  for (const path of [stalwart, '/v1/ingest/logs?source=stalwart', '/v1/ingest/arf'])
    t.like(await postSigned(fixture, path, source, bomb, gzip), { status: 413, body: { error: { code: 'request_too_large' } } }, path)
  const report = gzipSync(Buffer.alloc(1024 * 1024 + 1, 'returned message\r\n'))
  t.like(await postSigned(fixture, '/v1/ingest/arf', source, report, gzip), {
    status: 413,
    body: { error: { details: { max_bytes: 1024 * 1024 } } },
  })
  const cut = packed.subarray(0, packed.length - 9)
  for (const path of [stalwart, '/v1/ingest/logs?source=stalwart'])
    t.like(await postSigned(fixture, path, source, cut, gzip), { status: 400, body: { error: { code: 'validation_failed' } } }, path)
  t.like(await postSigned(fixture, stalwart, source, packed, { 'content-encoding': 'br' }), { status: 415 })
  t.like(await postSigned(fixture, stalwart, source, Buffer.alloc(5 * 1024 * 1024 + 1)), { status: 413 })
  t.deepEqual(await rows(fixture), before)
})

test('an unrecognized body is refused with its detected type and changes nothing', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'arf')
  const hook = await addSource(fixture, 'stalwart')
  const before = await rows(fixture)
  t.deepEqual((await postSigned(fixture, '/v1/ingest/arf', source, 'Subject: hello\r\n\r\nhello\r\n')).body, { kind: 'none', events: [] })
  t.like(await postSigned(fixture, stalwart, hook, 'no JSON'), { status: 400, body: { error: { code: 'validation_failed' } } })
  t.like(await postSigned(fixture, stalwart, hook, '[{"type":7}]'), { status: 202, body: { accepted: 0 } })
  t.deepEqual(await rows(fixture), before)
})

test.serial('a report mail may be as large as the MX limit; a larger one is refused with the limit', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'arf')
  const trace = await sentMessage(fixture, ['ada@example.net'])
  const report = bounceMail(returnPathOf(trace), 'ada@example.net').replace('--b--', '')
  // Text and noise, longer than the gzip window.
  const attached = 'returned message\r\n'.repeat(2500) + new Seeded('noise').bytes(9000).toString('hex').replaceAll(/.{72}/g, '$&\r\n')
  const returned = (bytes: number): Buffer => Buffer.concat([Buffer.from(report), Buffer.alloc(bytes - report.length, attached)])
  const mebibyte = 1024 * 1024
  const tooLarge = await postSigned(fixture, '/v1/ingest/arf', source, returned(8 * mebibyte + 1))
  t.like(tooLarge, { status: 413, body: { error: { code: 'request_too_large', details: { max_bytes: 8 * mebibyte } } } })
  const whole = await postSigned(fixture, '/v1/ingest/arf', source, returned(8 * mebibyte))
  t.like(whole, { status: 202, body: { kind: 'dsn', events: [{ result: 'recorded', trace_id: trace.id }] } })
  const packed = gzipSync(returned(8 * mebibyte))
  t.like(await postSigned(fixture, '/v1/ingest/arf', source, packed, { 'content-encoding': 'gzip' }), {
    status: 202,
    body: { kind: 'dsn', events: [{ result: 'duplicate', trace_id: trace.id }] },
  })
})

test('a large report is parsed in a worker with the same result', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'arf')
  const trace = await sentMessage(fixture, ['ada@example.net'])
  const threads: unknown[] = []
  const hear = (thread: unknown): void => void threads.push(thread)
  process.on('worker', hear)
  t.teardown(() => process.off('worker', hear))
  const mail = bounceMail(returnPathOf(trace), 'ada@example.net').replace('Sorry.', 'Sorry for that.\r\n'.repeat(5000))
  const { body } = await postSigned(fixture, '/v1/ingest/arf', source, mail)
  t.like(body, { kind: 'dsn', events: [{ result: 'recorded', trace_id: trace.id, status: '5.1.1' }] })
  t.is(threads.length, 1)
})

test('ingest is refused while the flag of the organization is off', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'stalwart')
  await switchFlag(fixture, 'bounce_sources', false)
  t.like(await postSigned(fixture, stalwart, source, sample('stalwart-webhook.json')), {
    status: 403,
    body: { error: { code: 'feature_disabled', details: { flag: 'bounce_sources' } } },
  })
  t.is((await fixture.rest.call('GET', '/v1/ingest-sources')).status, 403)
})

test('a source of another organization changes nothing in this one', async (t) => {
  const fixture = await startFixture(t)
  const trace = await sentMessage(fixture, ['nobody@example.net'])
  const outsider = await fixture.addOrganization()
  const source = await addSource(outsider, 'arf')
  const answer = await postSigned(fixture, '/v1/ingest/arf', source, bounceMail(returnPathOf(trace), 'nobody@example.net', trace.messageId))
  t.like((answer.body['events'] as object[])[0], { result: 'unmatched', trace_id: null, suppressed: false })
  t.is((await traceOf(fixture, trace))['status'], 'sent')
  t.is((await fixture.rest.call('GET', `/v1/ingest-sources/${source.id}`)).status, 404)
})

test('Postfix log lines in two requests, in either order, have the same result', async (t) => {
  for (const isTurned of [false, true]) {
    const fixture = await startFixture(t)
    const source = await addSource(fixture, 'postfix')
    const trace = await sentMessage(fixture, ['nobody@example.net'])
    const lines = [
      `Aug 21 10:15:00 mx postfix/qmgr[1]: 4cYt3r0ABCz9sX: from=<${returnPathOf(trace)}>, size=4711, nrcpt=1 (queue active)`,
      'Aug 21 10:15:01 mx postfix/smtp[2]: 4cYt3r0ABCz9sX: to=<nobody@example.net>, relay=mx.example.net[203.0.113.9]:25, delay=1, ' +
        'delays=0/0/0/1, dsn=5.1.1, status=bounced (host mx.example.net[203.0.113.9] said: 550 5.1.1 User unknown (in reply to RCPT TO command))',
    ]
    for (const line of isTurned ? [lines.join('\n')] : lines)
      t.is((await postSigned(fixture, '/v1/ingest/logs?source=postfix', source, `${line}\n`)).status, 202)
    t.is((await traceOf(fixture, trace))['status'], 'bounced')
    const again = await postSigned(fixture, '/v1/ingest/logs?source=postfix', source, `${lines.join('\n')}\n`)
    t.like(again.body, { accepted: 0, duplicates: 1 })
  }
})

test('complaints suppress if enabled, with the source in the list; not-spam reports do not', async (t) => {
  const fixture = await startFixture(t)
  await switchFlag(fixture, 'bounce_auto_suppress', true)
  const source = await addSource(fixture, 'arf')
  const trace = await sentMessage(fixture, ['ada@example.net', 'ben@example.net'])
  const kind = async (type: string, at: number): Promise<object> => {
    const answer = await postSigned(fixture, '/v1/ingest/arf', source, complaintMail(type, returnPathOf(trace, at)))
    return (answer.body['events'] as object[])[0] ?? {}
  }
  t.like(await kind('not-spam', 1), { type: 'ignored', result: 'ignored' })
  t.like(await kind('abuse', 0), { type: 'complained', result: 'recorded', suppressed: true, trace_id: trace.id, verified: true })
  const { data } = (await fixture.rest.must('GET', '/v1/suppressions?source=complaint')) as { data: { email: string }[] }
  t.deepEqual(column(data, 'email'), ['ada@example.net'])
  const events = ((await traceOf(fixture, trace))['timeline'] as { event: string }[]).map(({ event }) => event)
  t.deepEqual(events.slice(-2), ['complained', 'auto_suppressed'])
  const shared = await fixture.rest.must('GET', `/share/traces/${trace.id}`)
  t.notRegex(JSON.stringify(shared), /complain|suppress|ada@|550 /)
})

test('active sources are billed by their maximum in a month', async (t) => {
  const fixture = await startFixture(t)
  const one = await addSource(fixture, 'stalwart')
  await addSource(fixture, 'postfix')
  await fixture.rest.call('DELETE', `/v1/ingest-sources/${one.id}`)
  await fixture.rest.call('DELETE', `/v1/ingest-sources/${one.id}`)
  const { axes } = (await fixture.rest.must('GET', '/v1/usage')) as { axes: { axis: string; quantity: number }[] }
  t.is(axes.find(({ axis }) => axis === 'sources')?.quantity, 2)
})

test('the integrity check covers all ingest rows, and no answer shows a secret', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'stalwart')
  await postSigned(fixture, stalwart, source, sample('stalwart-webhook.json'))
  const list = await fixture.rest.call('GET', '/v1/ingest-sources')
  const one = await fixture.rest.call('GET', `/v1/ingest-sources/${source.id}`)
  for (const { bytes } of [list, one]) t.false(bytes.includes(source.secret))
  const { last_seen_at: seen } = one.body as { last_seen_at: string | null }
  t.truthy(seen)
  const kept: string[] = []
  for await (const { key } of fixture.database.kv.range(within([fixture.organizationId, 'feedback.domain'])))
    kept.push(Buffer.from(key).toString('latin1'))
  t.is(kept.length, 1)
  t.regex(kept[0] ?? '', /example\.com/)
})

const bounceMail = (returnPath: string, recipient: string, messageId = ''): string =>
  [
    ...['From: MAILER-DAEMON@mx.example.org', `To: ${returnPath}`, 'Subject: Undelivered Mail Returned to Sender', 'MIME-Version: 1.0'],
    ...['Content-Type: multipart/report; report-type=delivery-status; boundary="b"', '', '--b', 'Content-Type: text/plain', '', 'Sorry.'],
    ...[
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.example.org',
      `X-Postfix-Sender: rfc822; ${returnPath}`,
      '',
    ],
    ...[`Final-Recipient: rfc822; ${recipient}`, 'Action: failed', 'Status: 5.1.1', 'Diagnostic-Code: smtp; 550 5.1.1 User unknown', ''],
    ...['--b', 'Content-Type: text/rfc822-headers', '', `Message-ID: <${messageId}>`, 'Subject: Order 123', '', '--b--', ''],
  ].join('\r\n')

const complaintMail = (type: string, returnPath: string): string =>
  [
    ...['From: fbl@isp.example', 'To: abuse@example.com', 'Subject: FW: Order', 'MIME-Version: 1.0'],
    ...['Content-Type: multipart/report; report-type=feedback-report; boundary="b"', '', '--b', 'Content-Type: text/plain', '', 'Abuse.'],
    ...['--b', 'Content-Type: message/feedback-report', '', `Feedback-Type: ${type}`, 'User-Agent: test/1', 'Version: 1'],
    ...[
      `Original-Mail-From: <${returnPath}>`,
      '',
      '--b',
      'Content-Type: message/rfc822',
      '',
      'From: shop@example.com',
      '',
      'x',
      '--b--',
      '',
    ],
  ].join('\r\n')
