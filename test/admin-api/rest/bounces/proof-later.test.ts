/** A repeated report that now proves that its sender had the message counts, for every kind of feedback. */
import test from '#test'
import { serviceRef } from '#core/trace/trace-token.ts'
import { startFixture } from '../fixture/rest-fixture.ts'
import { addSource, postSigned, secrets, sentMessage, traceOf } from '../fixture/ingest-posts.ts'
import { statusReport } from './bounce-reports.ts'

const kim = 'kim@example.net'

const complaint = (returned: readonly string[]): string =>
  [
    ...['From: fbl@isp.example', 'To: abuse@example.com', 'Subject: FW: Order', 'Message-ID: <c1@isp.example>', 'MIME-Version: 1.0'],
    ...['Content-Type: multipart/report; report-type=feedback-report; boundary="b"', '', '--b', 'Content-Type: text/plain', '', 'Abuse.'],
    ...['--b', 'Content-Type: message/feedback-report', '', 'Feedback-Type: abuse', 'User-Agent: test/1', 'Version: 1'],
    ...[`Original-Rcpt-To: <${kim}>`, '', '--b', 'Content-Type: message/rfc822', '', ...returned, 'Subject: Order', '', 'x', '--b--', ''],
  ].join('\r\n')

const bounce = (returned: readonly string[]): string =>
  statusReport({ fields: ['Action: failed', 'Status: 5.1.1'], recipient: kim, returned, reportId: 'r1@mx.example.net' })

for (const [kind, mailOf, status] of [
  ['a bounce', bounce, 'bounced'],
  ['a complaint', complaint, 'complained'],
] as const)
  test(`${kind} without proof: replaced by the same report with proof`, async (t) => {
    const fixture = await startFixture(t)
    const trace = await sentMessage(fixture, [kim])
    const source = await addSource(fixture, 'arf')
    const messageId = [`Message-ID: <${trace.messageId}>`]
    const proved = [...messageId, `X-Service-Ref: ${serviceRef(secrets, trace.id)}`]
    const give = async (mail: string): Promise<object> =>
      ((await postSigned(fixture, '/v1/ingest/arf', source, mail)).body['events'] as object[])[0] ?? {}
    t.like(await give(mailOf(messageId)), { result: 'recorded', verified: false, trace_id: trace.id })
    t.like(await give(mailOf(messageId)), { result: 'duplicate', trace_id: trace.id })
    t.is((await traceOf(fixture, trace))['status'], 'sent')
    t.like(await give(mailOf(proved)), { result: 'recorded', verified: true, trace_id: trace.id })
    const after = (await traceOf(fixture, trace)) as { status: string; timeline: { event: string; detail: { verified?: boolean } }[] }
    t.is(after.status, status)
    t.deepEqual(
      after.timeline.filter(({ event }) => event === status).map(({ detail }) => detail.verified),
      [true],
    )
    for (const mail of [mailOf(messageId), mailOf(proved)]) t.like(await give(mail), { result: 'duplicate', trace_id: trace.id })
  })

test('a repeated report with a forged token remains a duplicate', async (t) => {
  const fixture = await startFixture(t)
  const trace = await sentMessage(fixture, [kim])
  const source = await addSource(fixture, 'arf')
  const messageId = [`Message-ID: <${trace.messageId}>`]
  await postSigned(fixture, '/v1/ingest/arf', source, bounce(messageId))
  const forged = await postSigned(fixture, '/v1/ingest/arf', source, bounce([...messageId, `X-Service-Ref: ${trace.id}.AAAAAAAAAAAAAAAA`]))
  t.like((forged.body['events'] as object[])[0], { result: 'duplicate', trace_id: trace.id })
  t.is((await traceOf(fixture, trace))['status'], 'sent')
})
