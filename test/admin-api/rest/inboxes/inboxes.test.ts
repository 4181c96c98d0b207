import { column } from '../../../support/column.ts'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test from '#test'
import { adminKey, baseUrl, errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const plain = { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', subject: 'Your order', text: 'Write to help@example.ch.' }

/** Returns the id of the catch-all inbox of the first project. */
async function catchAll({ rest }: Fixture): Promise<string> {
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  const { data } = await rest.must('GET', `/v1/inboxes?project=${String(project_id)}`)
  const [inbox] = data as { id: string; address_pattern: string; name: string; project_id: string }[]
  if (inbox?.address_pattern !== '*' || inbox.name !== 'Catch-all') throw new Error('no catch-all inbox')
  return inbox.id
}

test('listInboxes filters by project, getInbox returns one inbox', async (t) => {
  const fixture = await startFixture(t)
  const project = await fixture.addProject()
  const all = (await fixture.rest.must('GET', '/v1/inboxes'))['data'] as object[]
  t.is(all.length, 2)
  const [other, ...more] = (await fixture.rest.must('GET', `/v1/inboxes?project=${project}`))['data'] as {
    id: string
    project_id: string
  }[]
  t.is(other?.project_id, project)
  t.is(more.length, 0)
  t.like(await fixture.rest.must('GET', `/v1/inboxes/${other?.id ?? ''}`), other as never)
  const none = [404, 'not_found', 'No virtual inbox has this id.'] as const
  t.deepEqual(refusal(await fixture.rest.call('GET', '/v1/inboxes/inb_none')), none)
  t.deepEqual(refusal(await fixture.rest.call('GET', '/v1/inboxes/inb_none/messages')), none)
})

test('listInboxFigures counts up to a hundred messages of each inbox and shows the latest', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock } = fixture
  const few = await rest.must('POST', '/v1/inboxes', { address_pattern: 'eve@example.ch' })
  await rest.must('POST', '/v1/inboxes', { address_pattern: '@none.example', retention_days: 1 })
  for (let i = 0; i < 101; i++) await rest.must('POST', '/v1/messages', { ...plain, text: '.', ...(i < 2 && { cc: 'eve@example.ch' }) })
  const figures = async (query = '') => (await rest.must('GET', `/v1/inboxes/figures${query}`))['data'] as Record<string, unknown>[]
  const at = new Date(clock.now()).toISOString()
  const counted = (await figures()).map(({ inbox_id: _, ...rest }) => rest)
  t.deepEqual(counted, [
    { messages: 0, has_more: false, last_message_at: null, new_trace_ids: [] },
    { messages: 2, has_more: false, last_message_at: at, new_trace_ids: [] },
    { messages: 100, has_more: true, last_message_at: at, new_trace_ids: [] },
  ])
  clock.advance(1000)
  const since = new Date(clock.now()).toISOString()
  const late = await rest.must('POST', '/v1/messages', { ...plain, cc: 'eve@example.ch' })
  t.deepEqual(column(await figures(`?since=${since}`), 'new_trace_ids'), [[], [late['trace_id']], [late['trace_id']]])
  const [, , all] = column(await figures(`?since=${at}`), 'new_trace_ids')
  t.is((all as string[]).length, 20)
  await rest.must('PATCH', `/v1/inboxes/${String(few['id'])}`, { retention_days: 1 })
  clock.advance(2 * 86_400_000)
  t.like((await figures())[1], { messages: 0, last_message_at: null }, 'expired messages are not counted')
})

test('getInboxMessage shows all parts of a captured message', async (t) => {
  const fixture = await startFixture(t)
  const inbox = await catchAll(fixture)
  const { trace_id } = await fixture.rest.must('POST', '/v1/messages', {
    ...plain,
    cc: 'bob@example.ch',
    html: '<p onclick="x()">Hello<script>alert(1)</script></p>',
    attachments: [{ filename: 'Rechnung ü.html', content: Buffer.from('<script>').toString('base64'), content_type: 'text/html' }],
  })
  await fixture.inboxCore.backgroundRead.idle()
  const { data, next_cursor } = await fixture.rest.must('GET', `/v1/inboxes/${inbox}/messages`)
  const [listed] = data as Record<string, unknown>[]
  t.is(next_cursor, null)
  const captured_at = new Date(fixture.clock.now()).toISOString()
  const addresses_seen = ['ada@example.ch', 'bob@example.ch', 'help@example.ch', 'shop@example.ch']
  const summary = {
    id: listed?.['id'],
    trace_id,
    capture_reason: 'captured.no_route',
    destination_id: null,
    intended_from: 'shop@example.ch',
    intended_to: ['ada@example.ch', 'bob@example.ch'],
    addresses_seen,
    subject: 'Your order',
    captured_at,
  }
  t.deepEqual(listed, summary)
  const path = `/v1/inboxes/${inbox}/messages/${String(summary.id)}`
  const { headers, html, text, attachments, view_url, ...message } = await fixture.rest.must('GET', path)
  t.regex(String(view_url), /^https:\/\/post\.example\.ch\/view\/org_/)
  t.deepEqual(message, { ...summary, raw_url: `${baseUrl}${path}/raw`, reading_notes: [] })
  t.deepEqual(
    (headers as { name: string; value: string }[]).find(({ name }) => name === 'From'),
    { name: 'From', value: 'Shop <shop@example.ch>' },
  )
  t.is(String(text).trim(), plain.text)
  t.regex(String(html), /Hello/)
  t.notRegex(String(html), /script|onclick/)
  t.deepEqual(attachments, [
    {
      filename: 'Rechnung ü.html',
      content_type: 'text/html',
      size: 8,
      inline: false,
      from_tnef: false,
      url: `${baseUrl}${path}/attachments/0`,
    },
  ])
  const raw = await fixture.rest.call('GET', `${path}/raw`)
  t.is(raw.headers['content-type'], 'message/rfc822')
  t.is(raw.headers['content-disposition'], `attachment; filename="${String(summary.id)}.eml"; filename*=UTF-8''${String(summary.id)}.eml`)
  t.regex(raw.bytes.toString('utf8'), /^Date: [^]*Message-ID: [^]*Write to help@example\.ch\./)
  const file = await fixture.rest.call('GET', `${path}/attachments/0`)
  t.is(file.bytes.toString('utf8'), '<script>')
  t.like(file.headers, {
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'content-disposition': `attachment; filename="Rechnung _.html"; filename*=UTF-8''Rechnung%20%C3%BC.html`,
  })
  t.deepEqual(refusal(await fixture.rest.call('GET', `${path}/attachments/1`)), [404, 'not_found', 'The message has no such attachment.'])
  t.is(refusal(await fixture.rest.call('GET', `${path}/attachments/x`))[1], 'validation_failed')
  const none = [404, 'not_found', 'No message of this inbox has this id.'] as const
  for (const missing of ['', '/raw', '/attachments/0'])
    t.deepEqual(refusal(await fixture.rest.call('GET', `/v1/inboxes/${inbox}/messages/cap_none${missing}`)), none)
})

test('a message appears only in inboxes of its project', async (t) => {
  const fixture = await startFixture(t)
  const project_id = await fixture.addProject()
  const inbox = await catchAll(fixture)
  const [other] = (await fixture.rest.must('GET', `/v1/inboxes?project=${project_id}`))['data'] as { id: string }[]
  await fixture.rest.must('POST', '/v1/messages', { ...plain, project_id })
  t.deepEqual(await fixture.rest.must('GET', `/v1/inboxes/${inbox}/messages`), { found: true, data: [], next_cursor: null })
  const [message] = (await fixture.rest.must('GET', `/v1/inboxes/${other?.id ?? ''}/messages`))['data'] as { id: string }[]
  t.is((await fixture.rest.call('GET', `/v1/inboxes/${inbox}/messages/${message?.id ?? ''}`)).status, 404)
})

test('listInboxMessages can begin after a time or a message', async (t) => {
  const fixture = await startFixture(t)
  const path = `/v1/inboxes/${await catchAll(fixture)}/messages`
  const times: string[] = []
  for (let i = 0; i < 3; i++) {
    fixture.clock.advance(1000)
    times.push(new Date(fixture.clock.now()).toISOString())
    await fixture.rest.must('POST', '/v1/messages', plain)
  }
  const rows = async (query = '') => (await fixture.rest.must('GET', path + query))['data'] as { id: string; captured_at: string }[]
  const [third, second, first] = await rows()
  t.deepEqual(
    [first, second, third].map((row) => row?.captured_at),
    times,
  )
  t.deepEqual(await rows(`?since=${times[1] ?? ''}`), [third] as never)
  t.deepEqual(await rows(`?since=${second?.id ?? ''}`), [third] as never)
  t.deepEqual((await rows('?since=2030-01-01T00:00:00%2B01:00')).length, 3)
  t.deepEqual(refusal(await fixture.rest.call('GET', `${path}?since=yesterday`)), [
    400,
    'validation_failed',
    'since: must be a time such as 2026-11-21T13:00:00Z, or the id of a captured message',
  ])
})

test('waitForInboxMessage returns the next message, or an existing one after since', async (t) => {
  const fixture = await startFixture(t)
  const inbox = await catchAll(fixture)
  const { project_id } = await fixture.rest.must('GET', '/v1/projects/me')
  const before = new Date(fixture.clock.now()).toISOString()
  const waiting = fixture.rest.must('POST', `/v1/inboxes/${inbox}/wait`)
  await fixture.waits(String(project_id), 1)
  fixture.clock.advance(10)
  const { trace_id } = await fixture.rest.must('POST', '/v1/messages', plain)
  const message = await waiting
  t.like(message, { trace_id, subject: 'Your order', text: message['text'] })
  t.deepEqual(message, await fixture.rest.must('GET', `/v1/inboxes/${inbox}/messages/${String(message['id'])}`))
  t.true(String(message['raw_url']).startsWith(`${baseUrl}/v1/inboxes/${inbox}/messages/cap_`))
  t.deepEqual(await fixture.rest.must('POST', `/v1/inboxes/${inbox}/wait?since=${before}&timeout=5`), message)
})

/** A wait on a separate connection, and the status of its answer. */
function waitingSocket({ address }: Fixture, inbox: string, key: string): { readonly socket: Socket; readonly answered: Promise<string> } {
  const [host, port] = address.split(':')
  const socket = connect(Number(port), host).setEncoding('latin1')
  socket.write(`POST /v1/inboxes/${inbox}/wait HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 0\r\n\r\n`)
  return { socket, answered: once(socket, 'data').then(([text]) => String(text).slice(0, 12)) }
}

test('waitForInboxMessage waits 30 seconds by default, and at most 120', async (t) => {
  const fixture = await startFixture(t)
  const inbox = await catchAll(fixture)
  const { project_id } = await fixture.rest.must('GET', '/v1/projects/me')
  for (const [query, seconds] of [
    ['', 30],
    ['?timeout=120', 120],
  ] as const) {
    let isOver = false
    const waiting = fixture.rest.must('POST', `/v1/inboxes/${inbox}/wait${query}`).finally(() => (isOver = true))
    await fixture.waits(String(project_id), 1)
    fixture.clock.advance(seconds * 1000 - 1)
    await fixture.rest.must('GET', '/v1/inboxes')
    t.false(isOver)
    fixture.clock.advance(1)
    t.deepEqual(await waiting, { timeout: true })
  }
})

test('a key may have 20 concurrent waits; a disconnect frees one', async (t) => {
  const fixture = await startFixture(t)
  const inbox = await catchAll(fixture)
  const project = String((await fixture.rest.must('GET', '/v1/projects/me'))['project_id'])
  const open = Array.from({ length: 20 }, () => waitingSocket(fixture, inbox, adminKey))
  await fixture.waits(project, 20)
  const [status, code, message] = refusal(await fixture.rest.call('POST', `/v1/inboxes/${inbox}/wait`))
  t.deepEqual([status, code], [429, 'rate_limit_exceeded'])
  t.is(message, 'At most 20 waits per key and 200 per project can be open at a time.')
  t.is((await fixture.rest.call('POST', `/v1/inboxes/${inbox}/wait`)).headers['retry-after'], '5')
  const other = await fixture.withKey(['api:read'])
  const others = other.must('POST', `/v1/inboxes/${inbox}/wait`)
  await fixture.waits(project, 21)
  open[0]?.socket.destroy()
  await fixture.waits(project, 20)
  const again = fixture.rest.must('POST', `/v1/inboxes/${inbox}/wait`)
  await fixture.waits(project, 21)
  const { trace_id } = await fixture.rest.must('POST', '/v1/messages', plain)
  t.like(await again, { trace_id })
  t.like(await others, { trace_id })
  for (const { answered } of open.slice(1)) t.is(await answered, 'HTTP/1.1 200')
  t.is(fixture.captureEvents.waiting(project), 0)
  for (const { socket } of open) socket.destroy()
})

test('waitForInboxMessage returns timeout if no message arrives', async (t) => {
  const fixture = await startFixture(t)
  const inbox = await catchAll(fixture)
  await fixture.rest.must('POST', '/v1/messages', plain)
  const { project_id } = await fixture.rest.must('GET', '/v1/projects/me')
  const waiting = fixture.rest.call('POST', `/v1/inboxes/${inbox}/wait?timeout=20`)
  await fixture.waits(String(project_id), 1)
  fixture.clock.advance(20_000)
  t.deepEqual((await waiting).body, { timeout: true })
  t.is(fixture.captureEvents.waiting(String(project_id)), 0)
  const wrong = async (query: string) => errorOf(await fixture.rest.call('POST', `/v1/inboxes/${inbox}/wait?${query}`)).message
  t.is(await wrong('timeout=121'), 'timeout: at most 120')
  t.is(await wrong('timeout=x'), 'timeout: must be a whole number of seconds, at most 120')
  t.is(await wrong('since=x'), 'since: must be a time such as 2026-11-21T13:00:00Z, or the id of a captured message')
  const inBody = await fixture.rest.call('POST', `/v1/inboxes/${inbox}/wait`, { timeout: 5 })
  t.is(errorOf(inBody).message, 'body: must be omitted: this operation has no body; give since and timeout in the query')
  const missing = await fixture.rest.call('POST', '/v1/inboxes/inb_none/wait')
  t.deepEqual(refusal(missing), [404, 'not_found', 'No virtual inbox has this id.'])
  t.is(objectOf(await fixture.rest.call('GET', `/v1/inboxes/${inbox}`))['id'], inbox)
})
