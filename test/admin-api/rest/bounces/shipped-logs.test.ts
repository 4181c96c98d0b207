/** Postfix log lines in the formats of log shippers, posted to a source: the bounce reaches the trace. */
import test from '#test'
import { startFixture } from '../fixture/rest-fixture.ts'
import { addSource, postSigned, sentMessage, traceOf } from '../fixture/ingest-posts.ts'

const kim = 'kim@example.net'
const logs = '/v1/ingest/logs?source=postfix'

/** A bounce line, and the line that maps its queue id to the message. */
const bounce = (id: string): string =>
  `${id}: to=<${kim}>, relay=mx.example.net[192.0.2.5]:25, delay=1.1, delays=0.1/0/0.5/0.5, dsn=5.1.1, status=bounced ` +
  `(host mx.example.net[192.0.2.5] said: 550 5.1.1 <${kim}>: Recipient address rejected: User unknown (in reply to RCPT TO command))`
const cleanup = (id: string, messageId: string): string => `${id}: message-id=<${messageId}>`

/** A record in the template of most rsyslog guides: `msg` begins with a blank, and the program name ends at the slash. */
const record = (at: string, message: string, procid: string, programname = 'postfix'): string =>
  JSON.stringify({
    ...{ '@timestamp': at, '@version': '1', message: ` ${message}`, sysloghost: 'mx1', severity: 'info', facility: 'mail' },
    ...{ programname, procid },
  })

for (const programname of ['postfix', 'newsletter'])
  test(`rsyslog's JSON of the program ${programname}: the bounce is accepted and reaches the trace`, async (t) => {
    const fixture = await startFixture(t)
    const trace = await sentMessage(fixture, [kim])
    const source = await addSource(fixture, 'postfix')
    const id = '4F00B0A001'
    const lines = [
      record('2029-12-31T23:59:58.417123+00:00', cleanup(id, trace.messageId), '2039', programname),
      record('2029-12-31T23:59:58.517123+00:00', `${id}: from=<shop@example.com>, size=812, nrcpt=1 (queue active)`, '2040', programname),
      record('2029-12-31T23:59:59.417123+00:00', bounce(id), '2041', programname),
    ]
    const answer = await postSigned(fixture, logs, source, `${lines.join('\n')}\n`)
    t.like(answer, { status: 202, body: { accepted: 1, unmatched: 0, rejected: [] } })
    t.is((await traceOf(fixture, trace))['status'], 'bounced')
  })

test('grok fields with a custom program name: the bounce reaches the trace', async (t) => {
  const fixture = await startFixture(t)
  const trace = await sentMessage(fixture, [kim])
  const source = await addSource(fixture, 'postfix')
  const shared = { program: 'newsletter', logsource: 'mx1', '@timestamp': '2029-12-31T23:59:59Z', postfix_queueid: '4F00B0A002' }
  const records = [
    { 'postfix_message-id': trace.messageId },
    { postfix_to: kim, postfix_status: 'bounced', postfix_dsn: '5.1.1', postfix_smtp_response: `550 5.1.1 <${kim}>: User unknown` },
  ]
  const body = records.map((own) => `${JSON.stringify({ ...shared, ...own })}\n`).join('')
  t.like(await postSigned(fixture, logs, source, body), { status: 202, body: { accepted: 1, unmatched: 0, rejected: [] } })
  t.is((await traceOf(fixture, trace))['status'], 'bounced')
})

test('headers of containers, Kubernetes and journalctl: each bounce is accepted', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'postfix')
  const line = (id: string): string => `postfix/smtp[2041]: ${bounce(id)}`
  const lines = [
    `2029-11-29T08:21:21.417123+00:00 INFO    ${line('4F00B0B001')}`,
    `2029-11-29T08:21:22.417123456Z Nov 29 08:21:22 mx1 ${line('4F00B0B002')}`,
    `2029-11-29T08:21:23.417123456Z stdout F Nov 29 08:21:23 mx1 ${line('4F00B0B003')}`,
    `mail-1  | Nov 29 08:21:24 mx1 ${line('4F00B0B004')}`,
    `Thu 2029-11-29 08:21:25 UTC mx1 ${line('4F00B0B005')}`,
    `Nov 29 2029 08:21:26 mx1 ${line('4F00B0B006')}`,
  ]
  const answer = await postSigned(fixture, logs, source, `${lines.join('\n')}\n`)
  t.like(answer, { status: 202, body: { accepted: 6, ignored: 0, rejected: [] } })
})

test('a refusal under soft_bounce is a delay, and the later expiry a bounce', async (t) => {
  const fixture = await startFixture(t)
  const trace = await sentMessage(fixture, [kim])
  const source = await addSource(fixture, 'postfix')
  const id = '4F00B0C001'
  const post = async (at: string, ...lines: readonly string[]) =>
    postSigned(fixture, logs, source, lines.map((line) => `${at} mx1 postfix/${line}\n`).join(''))
  const kept = bounce(id).replace('status=bounced', 'status=SOFTBOUNCE')
  const first = await post('2029-12-31T23:00:00Z', `cleanup[1]: ${cleanup(id, trace.messageId)}`, `smtp[2]: ${kept}`)
  t.like(first, { status: 202, body: { accepted: 1, unmatched: 0, rejected: [] } })
  t.is((await traceOf(fixture, trace))['status'], 'sent')
  const expiry = await post('2029-12-31T23:30:00Z', `qmgr[3]: ${id}: from=<shop@example.com>, status=expired, returned to sender`)
  t.like(expiry, { status: 202, body: { accepted: 1, unmatched: 0, rejected: [] } })
  t.like(await traceOf(fixture, trace), { status: 'bounced' })
})
