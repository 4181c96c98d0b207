import test from '#test'
import { rewrite } from '../fixture/diagnosed.ts'
import { addDestination, errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { columns } from '../../../support/column.ts'
import { assertSound } from '../../../support/problems.ts'

const plain = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'Bestellung für Ada', text: 'Thank you.' }
const none = [404, 'not_found', 'No trace has this id.'] as const

/** The fields of a recipient without an outcome. */
const noOutcome = { reply: null, return_path: null, report: null, bounce: null, suppression: null }

/** Changes a trace as a refusal at RCPT does. */
const refused = (fixture: Fixture, traceId: string): Promise<void> =>
  rewrite(fixture, traceId, (trace) => ({
    ...trace,
    ...{ status: 'failed', nextAttemptAt: null },
    recipients: trace.recipients.map((one) => ({
      ...one,
      ...{ status: 'failed', bounce: 'hard' },
      reply: { code: 550, enhanced: '5.1.1', text: 'User unknown' },
    })),
  }))

test('getTrace shows the history of a send', async (t) => {
  const { rest, clock } = await startFixture(t)
  const destination_id = await addDestination(rest, { name: 'Webhoster' }, true)
  const rule = await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id })
  const { trace_id } = await rest.must('POST', '/v1/messages', { ...plain, cc: 'bob@example.ch' })
  const trace = await rest.must('GET', `/v1/traces/${String(trace_id)}`)
  const at = new Date(clock.now()).toISOString()
  const { size, project_id, timeline, ...told } = trace
  t.true(Number(size) > 100)
  t.regex(String(project_id), /^prj_/)
  const reason = 'Rule any (priority 100) selects the destination Webhoster.'
  t.deepEqual(told, {
    trace_id,
    status: 'queued',
    outcome: 'relayed',
    outcome_cause: null,
    outcome_reason: 'The destination Webhoster is live.',
    door: 'rest',
    submitted_by: 'key_environment',
    from: 'shop@example.ch',
    mail_from: 'shop@example.ch',
    to: ['ada@example.ch', 'bob@example.ch'],
    recipients: [
      { address: 'ada@example.ch', status: 'queued', bcc: false, ...noOutcome },
      { address: 'bob@example.ch', status: 'queued', bcc: false, ...noOutcome },
    ],
    bounce: null,
    recipient_counts: { queued: 2 },
    summary: '2 queued',
    subject: 'Bestellung für Ada',
    message_id: `${String(trace_id)}@example.ch`,
    destination_id,
    route: { by: 'rule', rule_id: rule['id'], environment: null, reason },
    template: null,
    tags: [],
    metadata: {},
    attachment: false,
    attempts: 0,
    send_at: null,
    tracking: null,
    next_attempt_at: at,
    held: false,
    created_at: at,
    updated_at: at,
  })
  t.deepEqual(columns(timeline as { event: string; message: string; at: string }[], 'event', 'message'), [
    ['accepted', `Accepted by the REST API: ${String(size)} bytes for 2 recipients.`],
    ['routed', reason],
    ['queued', 'The destination Webhoster is live.'],
  ])
  t.deepEqual(refusal(await rest.call('GET', '/v1/traces/0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b')), none)
})

test('listTraces filters and returns pages', async (t) => {
  const { rest, clock, addProject } = await startFixture(t)
  const sandbox = await addDestination(rest)
  const project_id = await addProject()
  const send = async (body: object) => {
    clock.advance(1000)
    return String((await rest.must('POST', '/v1/messages', { ...plain, ...body }))['trace_id'])
  }
  const first = await send({ to: ['Ada@example.ch', 'eva@example.ch'] })
  const second = await send({ from: 'other@example.ch', to: 'bob@example.ch' })
  const middle = new Date(clock.now()).toISOString()
  const third = await send({ destination_id: sandbox })
  const fourth = await send({ project_id })
  const ids = async (query: string) => {
    const seen: unknown[] = []
    for await (const { trace_id } of rest.rows(`/v1/traces?${query}`, 2)) seen.push(trace_id)
    return seen
  }
  t.deepEqual(await ids(''), [fourth, third, second, first])
  t.deepEqual(await ids('to=ADA@example.ch'), [fourth, third, first])
  t.deepEqual(await ids('from=Other@example.ch'), [second])
  t.deepEqual(await ids('outcome=captured.sandbox_destination'), [third])
  t.deepEqual(await ids('status=queued'), [])
  t.deepEqual(await ids(`destination_id=${sandbox}`), [third])
  t.deepEqual(await ids(`project=${project_id}`), [fourth])
  t.deepEqual(await ids(`since=${middle}`), [fourth, third, second])
  t.deepEqual(await ids(`until=${middle}`), [first])
  t.deepEqual(await ids(`to=ada@example.ch&until=${encodeURIComponent(middle.replace('Z', '+00:00'))}`), [first])
  const wrong = async (query: string) => errorOf(await rest.call('GET', `/v1/traces?${query}`)).message
  t.regex(await wrong('status=lost'), /^status: must be one of pending, queued, /)
  t.is(await wrong('since=yesterday'), 'since: must be a time such as 2026-11-21T13:00:00Z')
  t.is(await wrong('limit=500'), 'limit: at most 200')
  t.is(await wrong('stauts=sent'), 'stauts: is not a known field; did you mean status?')
})

test('countTraces counts the traces of the list by status, and bounces of any status', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock, addProject, withKey } = fixture
  const live = await addDestination(rest, { name: 'Live' }, true)
  const project_id = await addProject()
  const send = async (body: object) => {
    clock.advance(1000)
    await rest.must('POST', '/v1/messages', { ...plain, ...body })
  }
  await send({})
  await send({ destination_id: live })
  await send({ destination_id: live, to: 'bob@example.ch' })
  const middle = new Date(clock.now() + 1).toISOString()
  await send({ project_id })
  for await (const { trace_id } of rest.rows('/v1/traces?to=bob@example.ch', 2)) await refused(fixture, String(trace_id))
  const counts = async (query: string, client = rest) => client.must('GET', `/v1/traces/counts?${query}`)
  const all = { total: 4, counts: { captured: 2, queued: 1, failed: 1 }, bounces: 1, complete: true }
  t.deepEqual(await counts(''), all)
  t.deepEqual(await counts('status=failed'), { total: 1, counts: { failed: 1 }, bounces: 1, complete: true })
  t.deepEqual(await counts('has=bounce'), { total: 1, counts: { failed: 1 }, bounces: 1, complete: true })
  t.deepEqual(await counts('recipient=ADA@example.ch'), { total: 3, counts: { captured: 2, queued: 1 }, bounces: 0, complete: true })
  const ofProject = { total: 1, counts: { captured: 1 }, bounces: 0, complete: true }
  for (const query of [`project=${project_id}`, `project_id=${project_id}`, `since=${middle}`]) t.deepEqual(await counts(query), ofProject)
  t.deepEqual(await counts('', await withKey(['api:read'], project_id)), ofProject)
  t.deepEqual(await counts('to=nora@example.ch'), { total: 0, counts: {}, bounces: 0, complete: true })
  t.is(errorOf(await rest.call('GET', '/v1/traces/counts?limit=5')).code, 'validation_failed')
})

test('listTraces filters by template and by properties that its entries show', async (t) => {
  const { rest, clock } = await startFixture(t)
  const send = async (body: object) => {
    clock.advance(1000)
    return String((await rest.must('POST', '/v1/messages', { to: 'ada@example.ch', from: 'shop@example.ch', ...body }))['trace_id'])
  }
  const { id } = await rest.must('POST', '/v1/templates', { slug: 'welcome', name: 'Welcome', subject_tmpl: 'Hi', text_tmpl: 'Hi' })
  const plainOne = await send({ subject: 'Plain', text: 'x' })
  const rendered = await send({ template_id: id, template_vars: {} })
  const attachments = [{ filename: 'a.txt', content: 'aGk=', content_type: 'text/plain' }]
  const withFile = await send({ subject: 'File', text: 'x', attachments })
  const ids = async (query: string) => (await rest.must('GET', `/v1/traces?${query}`))['data'] as { trace_id: string }[]
  const found = async (query: string) => (await ids(query)).map(({ trace_id }) => trace_id)
  t.deepEqual(await found('template=welcome'), [rendered])
  t.deepEqual(await found(`template=${String(id)}&has=template`), [rendered])
  t.deepEqual(await found('has=attachment'), [withFile])
  t.deepEqual(await found('has=attachment,template'), [])
  t.deepEqual(await found('has='), [withFile, rendered, plainOne])
  t.like((await ids('template=welcome'))[0], { template: { id, slug: 'welcome', version: 1 }, attachment: false })
  t.like((await ids('has=attachment'))[0], { template: null, attachment: true })
  t.regex(errorOf(await rest.call('GET', '/v1/traces?has=files')).message, /^has/)
})

test('listTraces finds tag and metadata in any status, and releases keep both', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock, addProject, withKey, daemon } = fixture
  const live = await addDestination(rest, { name: 'Live' }, true)
  const project_id = await addProject()
  const send = async (body: object) => {
    clock.advance(1000)
    return String((await rest.must('POST', '/v1/messages', { ...plain, ...body }))['trace_id'])
  }
  const captured = await send({ tags: ['Welcome', 'welcome', ' spring '], metadata: { order_id: '17' } })
  const relayed = await send({ destination_id: live, tags: ['WELCOME'], to: 'bob@example.ch' })
  const other = await send({ project_id, tags: ['welcome'], metadata: { order_id: '18' } })
  await send({})
  const ids = async (query: string, client = rest) => {
    const seen: unknown[] = []
    for await (const { trace_id } of client.rows(`/v1/traces?${query}`, 1)) seen.push(trace_id)
    return seen
  }
  t.deepEqual(await ids('tag=welcome'), [other, relayed, captured])
  t.deepEqual(await ids(`tag=Welcome&project=${project_id}`), [other])
  t.deepEqual(await ids('tag=welcome', await withKey(['api:read'], project_id)), [other])
  t.deepEqual(await ids('tag=welcome&to=BOB@example.ch'), [relayed])
  t.deepEqual(await ids('tag=welcome&status=captured'), [other, captured])
  t.deepEqual(await ids('tag=spring'), [captured])
  t.deepEqual(await ids('tag=wel'), [])
  t.deepEqual(await ids('metadata=order_id:17'), [captured])
  t.deepEqual(await ids('metadata=order_id:1'), [])
  t.deepEqual(await ids('tag=welcome&metadata=order_id:18'), [other])
  t.like(await rest.must('GET', `/v1/traces/${captured}`), { tags: ['Welcome', 'spring'], metadata: { order_id: '17' } })
  const { data: inboxes } = (await rest.must('GET', '/v1/inboxes')) as { data: { id: string; project_id: string }[] }
  const { project_id: own } = await rest.must('GET', `/v1/traces/${captured}`)
  const inbox = inboxes.find((one) => one.project_id === own)?.id ?? ''
  const { data: kept } = (await rest.must('GET', `/v1/inboxes/${inbox}/messages`)) as { data: { id: string; trace_id: string }[] }
  const message = kept.find(({ trace_id }) => trace_id === captured)?.id ?? ''
  const { trace_id: released } = await rest.must('POST', `/v1/inboxes/${inbox}/messages/${message}/release`, { destination_id: live })
  t.deepEqual(await ids('tag=spring'), [released, captured])
  await assertSound(t, daemon)
  const bounds = [
    [{ tags: Array.from({ length: 11 }, String) }, 'tags: at most 10 entries'],
    [{ tags: ['x'.repeat(256)] }, 'tags[0]: at most 255 characters'],
    [{ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`a${String(i)}`, ''])) }, 'metadata: at most 20 fields'],
    [
      { metadata: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [i, 'x'.repeat(500)])) },
      'metadata: at most 4096 characters in all names and values',
    ],
    [{ metadata: { a: 1 } }, 'metadata.a: expected text, got a number'],
  ] as const
  for (const [wrong, fault] of bounds)
    t.deepEqual(refusal(await rest.call('POST', '/v1/messages', { ...plain, ...wrong })), [400, 'validation_failed', fault])
})

test('listTraces refuses cursors of other lists, and modified ones', async (t) => {
  const { rest } = await startFixture(t)
  for (const to of ['ada@example.ch', 'ada@example.ch', 'bob@example.ch']) await rest.must('POST', '/v1/messages', { ...plain, to })
  const cursor = String((await rest.must('GET', '/v1/traces?limit=1'))['next_cursor'])
  const ofAda = String((await rest.must('GET', '/v1/traces?limit=1&to=ada@example.ch'))['next_cursor'])
  const message = 'cursor: is not a cursor of this list; start again without a cursor'
  for (const wrong of ['garbage', cursor.slice(0, -1), cursor.slice(0, -9), ofAda])
    t.deepEqual(refusal(await rest.call('GET', `/v1/traces?cursor=${wrong}`)), [400, 'validation_failed', message], wrong)
  for (const list of ['destinations', 'inboxes', 'api-keys', 'smtp-credentials'])
    t.deepEqual(refusal(await rest.call('GET', `/v1/${list}?cursor=${cursor}`)), [400, 'validation_failed', message], list)
  t.is(((await rest.must('GET', `/v1/traces?cursor=${cursor}`))['data'] as unknown[]).length, 2)
})

test('getTrace and getSharedTrace accept the id in any case of letters', async (t) => {
  const { rest, client } = await startFixture(t)
  const { trace_id } = await rest.must('POST', '/v1/messages', plain)
  const loud = String(trace_id).toUpperCase()
  t.is((await rest.must('GET', `/v1/traces/${loud}`))['trace_id'], trace_id)
  t.is(objectOf(await client('none').call('GET', `/share/traces/${loud}`))['trace_id'], trace_id)
})

test('getSharedTrace omits blind copies; getTrace marks them', async (t) => {
  const { rest, client } = await startFixture(t)
  const { trace_id } = await rest.must('POST', '/v1/messages', { ...plain, bcc: ['Zoe@hidden.example', 'ADA@example.ch'] })
  t.deepEqual((await rest.must('GET', `/v1/traces/${String(trace_id)}`))['recipients'], [
    { address: 'ada@example.ch', status: 'captured', bcc: false, ...noOutcome },
    { address: 'Zoe@hidden.example', status: 'captured', bcc: true, ...noOutcome },
  ] as never)
  const shared = await client('none').call('GET', `/share/traces/${String(trace_id)}`)
  t.deepEqual(objectOf(shared)['recipients'], [{ address: '***@example.ch', status: 'captured' }])
  t.notRegex(shared.bytes.toString('utf8'), /hidden\.example|"bcc"/)
})

test('only getTrace shows the return path of each recipient of a send with VERP', async (t) => {
  const { rest, client } = await startFixture(t)
  await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: await addDestination(rest, {}, true) })
  const { trace_id } = await rest.must('POST', '/v1/messages', { ...plain, cc: 'bob@example.ch', verp_enabled: true })
  const { recipients, timeline } = await rest.must('GET', `/v1/traces/${String(trace_id)}`)
  const paths = (recipients as { return_path: string }[]).map(({ return_path }) => return_path)
  for (const path of paths) t.regex(path, /^b[0-9a-z]{21}@in\.example\.ch$/)
  t.is(new Set(paths).size, 2)
  t.like((timeline as unknown[]).at(-1), { event: 'verp', detail: { bounce_domain: 'in.example.ch' } })
  const shared = await client('none').call('GET', `/share/traces/${String(trace_id)}`)
  t.is(shared.status, 200)
  for (const path of ['in.example.ch', ...paths]) t.false(shared.bytes.toString('utf8').includes(path))
})

test('sendMessage with verp_enabled: on plans without VERP, the trace has the reason', async (t) => {
  const { rest } = await startFixture(t, { plan: 'free' })
  await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: await addDestination(rest, {}, true) })
  const { trace_id } = await rest.must('POST', '/v1/messages', { ...plain, verp_enabled: true })
  const { recipients, timeline } = await rest.must('GET', `/v1/traces/${String(trace_id)}`)
  t.like(recipients, { 0: { return_path: null } })
  t.like((timeline as unknown[]).at(-1), {
    event: 'verp',
    message: 'VERP was requested but is not used: the plan free does not include it.',
  })
})

test('getSharedTrace needs no key and shows only the allowed fields', async (t) => {
  const { rest, client } = await startFixture(t)
  const secret = { subject: 'Very secret subject', text: 'very secret text' }
  const { trace_id } = await rest.must('POST', '/v1/messages', { ...plain, ...secret })
  const answer = await client('none').call('GET', `/share/traces/${String(trace_id)}`)
  t.is(answer.status, 200)
  t.like(answer.headers, { 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow', 'referrer-policy': 'no-referrer' })
  const { timeline, created_at, updated_at, ...shown } = objectOf(answer)
  t.deepEqual(shown, {
    trace_id,
    status: 'captured',
    outcome: 'captured.no_route',
    provider: null,
    recipients: [{ address: '***@example.ch', status: 'captured' }],
    replies: [],
    reason: null,
  })
  t.is(created_at, updated_at)
  t.deepEqual(
    (timeline as object[]).map((entry) => Object.keys(entry)),
    [1, 2, 3].map(() => ['at', 'event']),
  )
  for (const word of ['secret', 'ada@', 'shop@', 'prj_', 'key_']) t.false(answer.bytes.toString('utf8').includes(word), word)
  t.deepEqual(refusal(await client('none').call('GET', '/share/traces/0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b')), none)
})

test('listTraces finds parts of subject, address and Message-ID; cursors hold no address', async (t) => {
  const { rest, clock } = await startFixture(t)
  const send = async (changes: object) => String((await rest.must('POST', '/v1/messages', { ...plain, ...changes }))['trace_id'])
  const first = await send({ subject: 'Größe geändert' })
  clock.advance(1000)
  const second = await send({ to: 'ben@inbox.example.ch', cc: 'ada@example.ch' })
  const idsOf = async (query: string) => {
    const { data } = await rest.must('GET', `/v1/traces?${query}`)
    return (data as Record<string, unknown>[]).map((row) => row['trace_id'])
  }
  t.deepEqual(await idsOf(`q=${encodeURIComponent('GRÖSSE')}`), [], 'search ignores the composition of letters')
  t.deepEqual(await idsOf(`q=${encodeURIComponent('größe')}`), [first])
  t.deepEqual(await idsOf('q=INBOX.exam'), [second])
  t.deepEqual(await idsOf(`q=${second}@`), [second])
  t.deepEqual(await idsOf('q=nothing-like-this'), [])
  t.deepEqual(await idsOf('recipient=ben@inbox.example.ch'), [second])
  t.deepEqual(await idsOf('sender=shop@example.ch&created_after=2000-01-01T00:00:00Z'), [second, first])
  t.deepEqual(await idsOf(`created_before=${new Date(clock.now() - 2000).toISOString()}`), [])
  const { next_cursor } = await rest.must('GET', '/v1/traces?to=ada@example.ch&limit=1')
  t.notRegex(Buffer.from(String(next_cursor), 'base64url').toString('latin1'), /ada@|example|org_/)
  t.deepEqual(await idsOf(`to=ada@example.ch&limit=1&cursor=${String(next_cursor)}`), [first])
  t.is((await rest.call('GET', `/v1/traces?to=ben@inbox.example.ch&cursor=${String(next_cursor)}`)).status, 400)
})
