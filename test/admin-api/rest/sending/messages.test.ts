import test, { type ExecutionContext } from '#test'
import { readWholeContent } from '#store/content.ts'
import { traces } from '#core/trace/trace.ts'
import { addDestination, errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'
import { foreignText } from '../../../support/foreign-text.ts'
import { Seeded } from '../../../support/seeded.ts'

const plain = { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', subject: 'Your order', text: 'Thank you.' }

/** Returns the stored rows of a send. */
async function storedOf({ database, organizationId }: Fixture, traceId: unknown) {
  const stored = await database.get(traces, { organizationId }, String(traceId))
  if (!stored) throw new Error('the trace is not there')
  const content = await readWholeContent(database, organizationId, stored.record.content)
  return { trace: stored.record, text: Buffer.from(content).toString('utf8') }
}

test('sendMessage relays if a rule matches, and captures otherwise', async (t) => {
  const fixture = await startFixture(t)
  const captured = await fixture.rest.call('POST', '/v1/messages', plain)
  t.is(captured.status, 200)
  t.is(objectOf(captured)['outcome'], 'captured.no_route')
  const live = await addDestination(fixture.rest, {}, true)
  await fixture.rest.must('POST', '/v1/routing/rules', { match: 'example.ch', destination_id: live })
  const relayed = await fixture.rest.must('POST', '/v1/messages', plain)
  t.is(relayed['outcome'], 'relayed')
  t.deepEqual(Object.keys(relayed), ['trace_id', 'outcome'])
  const { trace, text } = await storedOf(fixture, relayed['trace_id'])
  t.like(trace, { door: 'rest', status: 'queued', destinationId: live, mailFrom: 'shop@example.ch', headerFrom: 'shop@example.ch' })
  t.regex(text, /^Date: .*\r\nMessage-ID: <[0-9a-f-]{36}@example\.ch>\r\nFrom: Shop <shop@example\.ch>\r\nTo: ada@example\.ch\r\n/)
  t.true(text.endsWith('\r\n\r\nThank you.'))
})

test('sendMessage accepts lists, objects and display names, and omits Bcc from the message', async (t) => {
  const blind = foreignText(t)
  const fixture = await startFixture(t)
  const sent = await fixture.rest.must('POST', '/v1/messages', {
    ...plain,
    from: { email: 'shop@example.ch', name: 'Müller, "AG"' },
    to: ['ada@example.ch', { email: 'bob@example.ch', name: 'Bob' }],
    cc: 'Carl <carl@müller.ch>',
    bcc: [`${blind}@example.ch`, 'ADA@example.ch'],
    reply_to: ['one@example.ch', 'Two <two@example.ch>'],
    headers: { 'X-Order': '17', 'List-Unsubscribe': '<mailto:u@example.ch>' },
    html: '<p>Thank you.</p>',
  })
  const { trace, text } = await storedOf(fixture, sent['trace_id'])
  t.deepEqual(column(trace.recipients, 'address'), ['ada@example.ch', 'bob@example.ch', 'carl@xn--mller-kva.ch', `${blind}@example.ch`])
  t.true(text.includes('\r\nTo: ada@example.ch, Bob <bob@example.ch>\r\nCc: Carl <carl@xn--mller-kva.ch>\r\n'))
  t.true(text.includes('\r\nReply-To: one@example.ch, Two <two@example.ch>\r\n'))
  t.true(text.includes('\r\nX-Order: 17\r\nList-Unsubscribe: <mailto:u@example.ch>\r\n'))
  t.regex(text, /\r\nFrom: =\?UTF-8\?Q\?M=C3=BCller=2C_=22AG=22\?= <shop@example\.ch>\r\n/)
  t.false(text.includes(blind))
  t.true(text.includes('multipart/alternative'))
})

test('sendMessage takes attachments, inline ones by content id', async (t) => {
  const folder = foreignText(t)
  const fixture = await startFixture(t)
  const sent = await fixture.rest.must('POST', '/v1/messages', {
    ...plain,
    html: '<img src="cid:logo@example.ch">',
    attachments: [
      { filename: `C:\\${folder}\\Rechnung Mai.pdf`, content: 'JVBERi0=', content_type: 'application/pdf' },
      { filename: 'logo.png', content: 'AAEC', content_type: 'image/png', content_id: '<logo@example.ch>' },
      { filename: 'notes', content: '', cid: 'two@example.ch' },
    ],
  })
  const { text } = await storedOf(fixture, sent['trace_id'])
  t.true(text.includes('filename="Rechnung Mai.pdf"'))
  t.true(text.includes('Content-Type: image/png;\r\n name="logo.png"\r\n'))
  t.true(text.includes('Content-ID: <logo@example.ch>'))
  t.true(text.includes('JVBERi0='))
  t.true(text.includes('Content-Type: application/octet-stream;\r\n name="notes"\r\n'))
  t.false(text.includes(folder))
})

test('sendMessage takes base64 with line breaks, and without padding', async (t) => {
  const fixture = await startFixture(t)
  const bytes = Buffer.from(Array.from({ length: 200 }, (_, i) => i))
  const lines = bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n')
  const contents = [lines, ` ${lines}\n`, bytes.toString('base64').replaceAll('=', ''), bytes.toString('base64')]
  const attachments = contents.map((content, i) => ({ filename: `${i}.bin`, content }))
  const sent = await fixture.rest.must('POST', '/v1/messages', { ...plain, attachments })
  const { text } = await storedOf(fixture, sent['trace_id'])
  t.is(text.replaceAll('\r\n', '').split(bytes.toString('base64')).length - 1, contents.length)
})

test('sendMessage encodes large files in short lines and compares them for idempotency', async (t) => {
  const fixture = await startFixture(t)
  const bytes = new Seeded('large file').bytes(700_000)
  const content = bytes.toString('base64').replaceAll(/.{4}/g, '$&\r\n')
  const body = { ...plain, idempotency_key: 'order 1', attachments: [{ filename: 'a.bin', content }] }
  const sent = await fixture.rest.must('POST', '/v1/messages', body)
  const { text } = await storedOf(fixture, sent['trace_id'])
  t.true(text.includes(`\r\n\r\n${bytes.toString('base64').replaceAll(/.{1,76}/g, '$&\r\n')}\r\n--`))
  t.deepEqual(await fixture.rest.must('POST', '/v1/messages', body), sent)
  const other = await fixture.rest.must('POST', '/v1/messages', { ...body, attachments: [{ filename: 'a.bin', content: `${content}\n` }] })
  t.like(other, { trace_id: sent['trace_id'], warnings: { length: 1 } })
})

test('sendMessage names the first invalid character of a large file', async (t) => {
  const { rest } = await startFixture(t)
  const line = `${'YWFh'.repeat(16)}\n`
  const refused = async (end: string) =>
    refusal(await rest.call('POST', '/v1/messages', { ...plain, attachments: [{ filename: 'a', content: line.repeat(30_000) + end }] }))[2]
  const start = 'attachments[0].content: must be base64 (RFC 4648 §4)'
  t.is(await refused('YW€h'), `${start}; character 1950003 is "€"`)
  t.is(await refused('YWéh€'), `${start}; character 1950003 is "é"`)
  t.is(await refused('Y\u0007'), `${start}; character 1950002 is U+0007`)
  t.is(await refused('YQ==YQ=='), `${start}; padding (=) is only allowed at the end`)
})

test('sendMessage: takes From of the named destination, or of the default sender', async (t) => {
  const fixture = await startFixture(t)
  const { from: _, ...anonymous } = plain
  const missing = [400, 'validation_failed', 'from: is required, because no destination supplies one'] as const
  t.deepEqual(refusal(await fixture.rest.call('POST', '/v1/messages', anonymous)), missing)
  const mute = await addDestination(fixture.rest)
  const named = await addDestination(fixture.rest, { from: 'Named <named@example.ch>' })
  const open = await addDestination(fixture.rest, { from: 'open@example.ch' })
  await fixture.rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: open })
  const fromOf = async (body: object) => {
    const { trace_id } = await fixture.rest.must('POST', '/v1/messages', { ...anonymous, ...body })
    return (await storedOf(fixture, trace_id)).trace
  }
  t.like(await fromOf({}), { headerFrom: 'open@example.ch', mailFrom: 'open@example.ch', destinationId: open })
  t.like(await fromOf({ destination_id: named }), { headerFrom: 'named@example.ch', destinationId: named })
  t.like(await fromOf({ destination_id: null }), { destinationId: open })
  t.deepEqual(refusal(await fixture.rest.call('POST', '/v1/messages', { ...anonymous, destination_id: mute })), missing)
})

test('sendMessage attributes a send to a project', async (t) => {
  const fixture = await startFixture(t)
  const project_id = await fixture.addProject()
  const { trace_id } = await fixture.rest.must('POST', '/v1/messages', { ...plain, project_id })
  t.is((await storedOf(fixture, trace_id)).trace.projectId, project_id)
  const mine = await addDestination(fixture.rest)
  const crossed = await fixture.rest.call('POST', '/v1/messages', { ...plain, project_id, destination_id: mine })
  t.deepEqual(refusal(crossed), [400, 'validation_failed', 'destination_id: no destination of this project has this id'])
  const bound = await fixture.withKey(['api:send'], project_id)
  t.is((await storedOf(fixture, objectOf(await bound.call('POST', '/v1/messages', plain))['trace_id'])).trace.projectId, project_id)
  const own = (await fixture.rest.must('GET', '/v1/projects/me'))['project_id']
  const out = await bound.call('POST', '/v1/messages', { ...plain, project_id: own })
  t.deepEqual(refusal(out), [404, 'not_found', 'project_id: no project has this id; leave it out to use the project of your key.'])
})

test('sendMessage returns the same trace for the same idempotency key, by field or header', async (t) => {
  const fixture = await startFixture(t)
  const send = (body: object, headers = {}) => fixture.rest.call('POST', '/v1/messages', { ...plain, ...body }, headers)
  const [first, ...same] = await Promise.all([
    send({ idempotency_key: 'order 1' }),
    send({}, { 'idempotency-key': 'order 1' }),
    send({ idempotency_key: 'order 1' }, { 'idempotency-key': 'order 1' }),
  ])
  t.is(first.status, 200)
  for (const answer of same) t.deepEqual(answer.body, first.body)
  t.like(await fixture.rest.must('GET', '/v1/projects/me'), { sends_today: 1 })
  t.not(objectOf(await send({ idempotency_key: 'order 2' }))['trace_id'], objectOf(first)['trace_id'])
  const project_id = await fixture.addProject()
  t.not(objectOf(await send({ idempotency_key: 'order 1', project_id }))['trace_id'], objectOf(first)['trace_id'])
  const differs = await send({ idempotency_key: 'a' }, { 'idempotency-key': 'b' })
  t.deepEqual(refusal(differs), [400, 'validation_failed', 'idempotency_key: differs from the header Idempotency-Key; give one of them'])
  t.regex(errorOf(await send({}, { 'idempotency-key': 'x'.repeat(257) })).message, /^Idempotency-Key: at most 256 characters$/)
  fixture.clock.advance(24 * 3600 * 1000)
  t.not(objectOf(await send({ idempotency_key: 'order 1' }))['trace_id'], objectOf(first)['trace_id'])
})

test('sendMessage marks a repeated idempotency key by header, another body by a warning', async (t) => {
  const { rest } = await startFixture(t)
  const file = { filename: 'a.txt', content: Buffer.from('one').toString('base64') }
  const body = { ...plain, idempotency_key: 'order 1', attachments: [file] }
  const send = (changes: object = {}) => rest.call('POST', '/v1/messages', { ...body, ...changes })
  const replayed = ({ headers }: { headers: Readonly<Record<string, unknown>> }) => headers['idempotent-replayed']
  const first = await send()
  t.deepEqual([replayed(first), objectOf(first)['warnings']], [undefined, undefined])
  const again = await send()
  t.is(replayed(again), 'true')
  t.deepEqual(again.body, first.body)
  const others = [
    { text: 'other' },
    { html: plain.text },
    { subject: 'Other' },
    { to: 'bob@example.ch' },
    { attachments: [{ ...file, content: Buffer.from('two').toString('base64') }] },
    { attachments: [{ ...file, filename: 'b.txt' }] },
    { attachments: [] },
  ]
  for (const change of others) {
    const other = await send(change)
    t.deepEqual([other.status, replayed(other)], [200, 'true'], JSON.stringify(change))
    const { warnings, ...rest_ } = objectOf(other)
    t.deepEqual(rest_, first.body as never)
    t.like(warnings, { 0: { path: 'idempotency_key' }, length: 1 })
  }
  t.like(await rest.must('GET', '/v1/projects/me'), { sends_today: 1 })
})

test('sendMessage is refused with 402 above the capture cap, and stores nothing', async (t) => {
  const fixture = await startFixture(t)
  const project_id = await fixture.addProject({ monthlyCaptureCap: 1 })
  await fixture.rest.must('POST', '/v1/messages', { ...plain, project_id })
  const refused = await fixture.rest.call('POST', '/v1/messages', { ...plain, project_id })
  t.is(refused.status, 402)
  t.like(errorOf(refused), { code: 'quota_exhausted_captures', next_action: 'upgrade' })
  let count = 0
  for await (const _ of fixture.rest.rows(`/v1/traces?project=${project_id}`)) count++
  t.is(count, 1)
})

test('sendMessage refuses attachments on plans without them', async (t) => {
  const { rest } = await startFixture(t, { plan: 'free' })
  const answer = await rest.call('POST', '/v1/messages', { ...plain, attachments: [{ filename: 'a.txt', content: 'YQ==' }] })
  t.deepEqual(refusal(answer), [
    403,
    'feature_disabled',
    'The plan free sends no attachments; link to the files, or raise the plan to pro or enterprise.',
  ])
})

const wrong = test.macro({
  async exec(t: ExecutionContext, changes: object, message: string) {
    const { rest } = await startFixture(t)
    t.deepEqual(refusal(await rest.call('POST', '/v1/messages', { ...plain, ...changes })), [400, 'validation_failed', message])
    const { data } = (await rest.must('GET', '/v1/traces')) as { data: { status: string; size: number }[] }
    for (const left of data) t.like(left, { status: 'validation_failed', size: 0 }) // refused messages with readable recipients
  },
  title: (_, changes, message) => `sendMessage refuses ${JSON.stringify(changes).slice(0, 80)}: ${message}`,
})
const oneAddress = 'must be one address such as ada@example.ch or Ada <ada@example.ch>'
const oneLine = 'must be on one line, without control characters'
const file = { filename: 'a.txt', content: 'YQ==' }

test(wrong, { to: undefined }, 'to: is required')
test(wrong, { to: [] }, 'to: must not be empty')
test(wrong, { to: '' }, `to: ${oneAddress}`)
test(wrong, { to: 'a@b.ch, c@d.ch' }, `to: ${oneAddress}`)
test(wrong, { to: 'team: a@b.ch;' }, `to: ${oneAddress}`)
test(wrong, { to: 'a@b.ch (x)' }, `to: ${oneAddress}`)
test(wrong, { to: 'a@b.ch\r\nBcc: x@y.ch' }, `to: ${oneAddress}`)
test(wrong, { to: '"a\u0000" <a@b.ch>' }, `to: ${oneAddress}`)
test(wrong, { to: ['a@b.ch', 'c@'] }, `to[1]: ${oneAddress}`)
test(wrong, { to: [{ email: 'x' }] }, `to[0].email: ${oneAddress}`)
test(wrong, { to: [{ email: 'a@b.ch', name: 'a\nb' }] }, 'to[0].name: must be on one line')
test(wrong, { to: 7 }, 'to: expected text or an object or a list, got a number')
test(wrong, { to: Array.from({ length: 101 }, (_, i) => `a${i}@b.ch`) }, 'to: at most 100 entries')
test(wrong, { cc: ['a@b.ch', 5] }, 'cc[1]: expected text or an object, got a number')
test(wrong, { bcc: 'x' }, `bcc: ${oneAddress}`)
test(wrong, { from: ['a@b.ch'] }, 'from: expected text or an object, got a list')
test(wrong, { from: 'a@b.ch\u2028' }, 'from: must have no invisible character; remove U+2028 LINE SEPARATOR')
test(wrong, { reply_to: 'x' }, `reply_to: ${oneAddress}`)
test(wrong, { subject: 'a\r\nBcc: x@y.ch' }, `subject: ${oneLine}`)
test(wrong, { subject: 'a\u0085' }, `subject: ${oneLine}`)
test(wrong, { subject: 'x'.repeat(990) }, 'subject: at most 989 characters')
test(wrong, { text: undefined }, 'text: a message needs a body; give text, html, both, or a template')
test(wrong, { text: 5 }, 'text: expected text, got a number')
test(wrong, { headers: { Bcc: 'x@y.ch' } }, 'headers.Bcc: is set by the service; use the field of the request, or leave it out')
test(wrong, { headers: { 'Content-Type': 'text/html' } }, 'headers.Content-Type: is set by the service; leave it out')
test(wrong, { headers: { 'resent-from': 'x' } }, 'headers.resent-from: is set by the service; leave it out')
test(wrong, { headers: { 'ARC-Seal': 'x' } }, 'headers.ARC-Seal: is set by the service; leave it out')
test(wrong, { headers: { 'X-A: b': 'x' } }, 'headers.X-A: b: is not a valid header field name')
test(wrong, { headers: { 'X-A': 'b\r\nBcc: x' } }, `headers.X-A: ${oneLine}`)
test(wrong, { headers: { 'X-A': 'b'.repeat(996) } }, 'headers.X-A: is too long: at most 998 characters with its name')
test(wrong, { headers: { 'X-A': '1', 'x-a': '2' } }, 'headers.x-a: appears twice, with different case')
test(wrong, { headers: { 'X-A': 1 } }, 'headers.X-A: expected text, got a number')
test(wrong, { headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, 'v'])) }, 'headers: at most 50 fields')
test(
  wrong,
  { attachments: [file, { ...file, content: 'YQ=' }] },
  'attachments[1].content: must be base64 (RFC 4648 §4); its length or its padding is wrong, for example because the end is missing',
)
test(
  wrong,
  { attachments: [file, file, { ...file, content: 'data:text/plain;base64,YQ==' }] },
  'attachments[2].content: must be base64 (RFC 4648 §4), not a data: URL; leave out everything up to the comma',
)
test(wrong, { attachments: [{ ...file, content: { type: 'Buffer', data: [1] } }] }, 'attachments[0].content: expected text, got an object')
test(wrong, { attachments: [{ filename: 'a.txt' }] }, 'attachments[0].content: is required')
test(wrong, { attachments: Array.from({ length: 101 }, () => file) }, 'attachments: at most 100 entries')
test(
  wrong,
  { attachments: [{ filename: 'a.txt', path: '/etc/passwd', href: 'http://x' }] },
  'attachments[0].path: is not a known field; also wrong or missing: attachments[0].href, attachments[0].content',
)
test(wrong, { attachments: [{ ...file, filename: 'x'.repeat(4097) }] }, 'attachments[0].filename: at most 4096 characters')
test(
  wrong,
  { attachments: [{ ...file, content_type: 'a/b\r\nX: y' }] },
  'attachments[0].content_type: must be a media type such as application/pdf',
)
test(
  wrong,
  { attachments: [{ ...file, content_type: 'multipart/mixed' }] },
  'attachments[0].content_type: must not be multipart/mixed, which describes structure, not a file; use application/octet-stream, or message/rfc822 for a whole message',
)
test(wrong, { attachments: [{ ...file, cid: 'a b' }] }, 'attachments[0].cid: must be a content id such as logo@example.ch')
test(
  wrong,
  { attachments: [{ ...file, cid: 'a', content_id: 'a' }] },
  'attachments[0].cid: is an alias of content_id; give only one of them',
)
const rfc3339 = 'must be a time of RFC 3339 with its offset, such as 2030-01-31T09:00:00Z or 2030-01-31T10:00:00+01:00'
for (const garbage of [
  'tomorrow',
  '',
  '2030-01-02',
  '2030-01-02T00:00Z',
  '2030-01-02T00:00:00',
  '2030-01-02 00:00:00Z',
  ' 2030-01-02T00:00:00Z',
])
  test(wrong, { send_at: garbage }, `send_at: ${rfc3339}`)
test(wrong, { scheduled_at: 'soon' }, `scheduled_at: ${rfc3339}`)
test(wrong, { send_at: '2030-02-30T00:00:00Z' }, 'send_at: must be a time such as 2026-11-21T13:00:00Z')
test(wrong, { send_at: 1_900_000_000 }, 'send_at: expected text, got a number')
test(
  wrong,
  { send_at: '2030-01-02T00:00:00Z', scheduled_at: '2030-01-02T00:00:00Z' },
  'scheduled_at: is an alias of send_at; give only one of them',
)
test(wrong, { destination_id: 'dst_none' }, 'destination_id: no destination of this project has this id')
test(wrong, { idempotency_key: '' }, 'idempotency_key: must not be empty')
test(wrong, { replyto: 'a@b.ch' }, 'replyto: is not a known field; did you mean reply_to?')

test('sendMessage accepts null for nullable fields', async (t) => {
  const { rest } = await startFixture(t)
  t.is(
    (await rest.call('POST', '/v1/messages', { ...plain, template_id: null, template_vars: null, send_at: null, destination_id: null }))
      .status,
    200,
  )
})

test('sendMessage limits message size and number of recipients', async (t) => {
  const { rest } = await startFixture(t)
  const composed = await rest.call('POST', '/v1/messages', { ...plain, text: `${'x'.repeat(900)}\n`.repeat(1200) })
  t.regex(errorOf(composed).message, /^The message has \d+ bytes; at most 1048576 are allowed\./)
  const many = Array.from({ length: 61 }, (_, i) => `a${i}@b.ch`)
  const crowd = await rest.call('POST', '/v1/messages', { ...plain, to: many, cc: many })
  t.deepEqual(refusal(crowd), [400, 'validation_failed', 'The message has 122 recipients; at most 120 are allowed. Split it.'])
  t.deepEqual(await rest.must('GET', '/v1/traces?status=captured'), { data: [], next_cursor: null })
})

test('sendMessage accepts large files up to the limit, and reports size and limit', async (t) => {
  const { rest } = await startFixture(t)
  const send = (sizes: readonly number[]) =>
    rest.call('POST', '/v1/messages', {
      ...plain,
      attachments: sizes.map((size) => ({ filename: 'a.bin', content: Buffer.alloc(size, 1).toString('base64') })),
    })
  const refused = errorOf(await send([700_000, 300_000]))
  const most = Number(refused.details?.['attachment_bytes_max'])
  t.like(refused, {
    code: 'request_too_large',
    message:
      `The attachments have 1000000 bytes (1.0 MB); at most ${most} bytes (0.8 MB) fit next to the text, as base64 makes them larger by 37 % ` +
      'and a message may have 1048576 bytes (1.0 MB). Link to large files; the operator sets the size of messages (POSTERN_SUBMISSION_MAX_MESSAGE_BYTES).',
    details: {
      ...{ attachment_bytes: 1_000_000, attachment_bytes_max: most, message_bytes_max: 1_048_576 },
      setting: 'POSTERN_SUBMISSION_MAX_MESSAGE_BYTES',
    },
  })
  t.is((await send([most - 300_000, 300_000 + 57 * 2])).status, 413)
  t.deepEqual(await rest.must('GET', '/v1/traces'), { data: [], next_cursor: null })
  t.is((await send([most - 300_000, 300_000])).status, 200)
})

test('sendMessage reports the maximum body size and the setting that controls it', async (t) => {
  const { rest } = await startFixture(t)
  const refused = errorOf(await rest.call('POST', '/v1/messages', { ...plain, text: 'x'.repeat(3 * 1024 * 1024) }))
  t.regex(
    refused.message,
    /^The body may have at most 3145728 bytes; this one has \d+\. The operator sets this \(POSTERN_HTTP_MAX_BODY_BYTES\)\.$/,
  )
  t.deepEqual(refused.details, { max_bytes: 3_145_728, setting: 'POSTERN_HTTP_MAX_BODY_BYTES' })
})

test('sendMessage needs api:send', async (t) => {
  const { withKey } = await startFixture(t)
  const reader = await withKey(['api:read'])
  t.deepEqual(refusal(await reader.call('POST', '/v1/messages', plain)), [
    403,
    'insufficient_scope',
    'This requires the scope api:send; the key has api:read.',
  ])
})
