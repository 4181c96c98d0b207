import test from '#test'
import { addDestination, baseUrl, errorOf, refusal, startFixture } from '../fixture/rest-fixture.ts'

const plain = { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', subject: 'Bestellung für Ada', text: 'Thank you.' }
const day = 86_400_000

test('getTraceMessage shows a relayed message as sent, with its source and its files', async (t) => {
  const { rest } = await startFixture(t)
  const destination_id = await addDestination(rest, {}, true)
  const { trace_id, outcome } = await rest.must('POST', '/v1/messages', {
    ...plain,
    destination_id,
    html: '<p onclick="x()">Hello<script>alert(1)</script></p>',
    attachments: [{ filename: 'a.html', content: Buffer.from('<script>').toString('base64'), content_type: 'text/html' }],
  })
  t.is(outcome, 'relayed')
  const path = `/v1/traces/${String(trace_id)}/message`
  const { headers, html, text, attachments, view_url, size, ...message } = await rest.must('GET', path)
  t.deepEqual(message, {
    trace_id,
    subject: plain.subject,
    from: 'shop@example.ch',
    to: ['ada@example.ch'],
    capture_id: null,
    raw_url: `${baseUrl}${path}/raw`,
    reading_notes: [],
  })
  t.regex(String(view_url), /^https:\/\/post\.example\.ch\/view\/org_[0-9a-z]+\.trace\./)
  t.true((headers as { name: string }[]).some(({ name }) => name === 'Message-ID'))
  t.is(String(text).trim(), plain.text)
  t.regex(String(html), /Hello/)
  t.notRegex(String(html), /script|onclick/)
  t.like(attachments, [{ filename: 'a.html', size: 8, url: `${baseUrl}${path}/attachments/0` }])
  const raw = await rest.call('GET', `${path}/raw`)
  t.is(raw.bytes.length, Number(size))
  t.like(raw.headers, { 'content-type': 'message/rfc822', 'content-length': String(size) })
  t.regex(raw.bytes.toString('utf8'), /^Subject: \S/m)
  const file = await rest.call('GET', `${path}/attachments/0`)
  t.is(file.bytes.toString('utf8'), '<script>')
  t.like(file.headers, { 'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff' })
  t.deepEqual(refusal(await rest.call('GET', `${path}/attachments/1`)), [404, 'not_found', 'The message has no such attachment.'])
})

test('a trace without a message returns the reason in every format', async (t) => {
  const { rest, clock } = await startFixture(t)
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  const refused = errorOf(await rest.call('POST', '/v1/messages', { ...plain, destination_id: 'dst_none' }))
  const { trace_id: captured } = await rest.must('POST', '/v1/messages', plain)
  const parts = ['', '/raw', '/attachments/0']
  for (const part of parts) {
    const gone = errorOf(await rest.call('GET', `/v1/traces/${String(refused.details?.['trace_id'])}/message${part}`))
    t.like(gone, { code: 'not_found', message: 'The request was refused, so no message was stored.', next_action: 'read_trace' }, part)
    const none = await rest.call('GET', `/v1/traces/0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b/message${part}`)
    t.deepEqual(refusal(none), [404, 'not_found', 'No trace has this id.'], part)
  }
  const path = `/v1/traces/${String(captured)}/message`
  t.regex(String((await rest.must('GET', path))['capture_id']), /^cap_/)
  const [inbox] = (await rest.must('GET', `/v1/inboxes?project=${String(project_id)}`))['data'] as { id: string }[]
  await rest.must('PATCH', `/v1/inboxes/${inbox?.id ?? ''}`, { retention_days: 1 })
  clock.advance(day - 1000)
  await rest.must('GET', path)
  clock.advance(2000)
  const expired = { code: 'not_found', message: 'The message has expired from every inbox that contained it.', next_action: 'read_trace' }
  t.like(errorOf(await rest.call('GET', path)), expired)
  await rest.must('POST', '/v1/inboxes', { address_pattern: 'ada@example.ch', project_id })
  t.is((await rest.must('GET', path))['trace_id'], captured, 'an inbox with longer retention contains it')
})
