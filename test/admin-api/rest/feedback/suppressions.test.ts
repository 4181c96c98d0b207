/** The suppression list over REST: entries, filters, import and export. */
import test, { type ExecutionContext } from '#test'
import type { Write } from '#store/kv.ts'
import { addDestination, adminKey, errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column, columns } from '../../../support/column.ts'
import { foreignText } from '../../../support/foreign-text.ts'

type Json = Record<string, unknown>
const hour = 3_600_000
const path = '/v1/suppressions'

const add = (fixture: Fixture, body: Json) => fixture.rest.call('POST', path, body)
/** The list in its default order: newest first. */
const listed = async (fixture: Fixture, query = ''): Promise<unknown[]> =>
  (await Array.fromAsync(fixture.rest.rows(path + query))).map(({ email }) => email)

/** Sorted, since entries of the same millisecond have no order. */
const emails = async (fixture: Fixture, query = ''): Promise<string[]> => (await listed(fixture, query)).map(String).toSorted()

interface Report {
  readonly total: number
  readonly added: number
  readonly already_there: number
  readonly refused: number
  readonly ignored_fields: readonly string[]
  readonly rows: readonly { readonly row: number; readonly result: string; readonly email?: string | null; readonly message?: string }[]
}

async function importRows(fixture: Fixture, type: string, body: string | AsyncIterable<Uint8Array>, key = adminKey) {
  const init = { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': type }, body, duplex: 'half' }
  const response = await fetch(`http://${fixture.address}${path}/bulk-import`, init as RequestInit)
  return { status: response.status, body: (await response.json()) as Report & { error: { code: string; message: string } } }
}

test('a dry run of an import reports the rows to add, and adds nothing', async (t) => {
  const fixture = await startFixture(t)
  await add(fixture, { email: 'ada@example.ch' })
  const before = await exported(fixture)
  const rows = [
    'ada@example.ch',
    'bob@example.ch',
    'BOB@example.ch',
    'nonsense',
    ...Array.from({ length: 600 }, (_, i) => `n${i % 550}@example.ch`),
  ]
  const body = JSON.stringify({ rows: rows.map((email) => ({ email })) })
  const ask = async (query: string) =>
    objectOf(await fixture.rest.call('POST', `${path}/bulk-import${query}`, JSON.parse(body) as object)) as unknown as Report
  const tried = await ask('?dry_run=true')
  t.like(tried, { total: 604, added: 551, already_there: 52, refused: 1 })
  t.is(await exported(fixture), before)
  t.deepEqual(await ask(''), tried, 'the import has the same result')
  t.like(await ask('?dry_run=true'), { added: 0, already_there: 603 })
})

async function exported(fixture: Fixture, query = ''): Promise<string> {
  const { status, bytes, headers } = await fixture.rest.call('GET', `${path}/export${query}`)
  if (status !== 200) throw new Error(bytes.toString())
  if (headers['content-type'] !== 'text/csv; charset=utf-8; header=present') throw new Error(headers['content-type'])
  return bytes.toString()
}

test('a suppression is created once, read, updated and deleted', async (t) => {
  const fixture = await startFixture(t)
  const first = await add(fixture, { email: ' Ada@BÜCHER.example ', reason: 'asked' })
  t.is(first.status, 201)
  const { id, ...rest } = objectOf(first)
  const now = new Date(fixture.clock.now()).toISOString()
  t.regex(String(id), /^sup_[0-9a-f]{32}$/)
  t.deepEqual(rest, {
    email: 'ada@xn--bcher-kva.example',
    reason: 'asked',
    project_id: null,
    source: 'manual',
    expires_at: null,
    created_at: now,
  })
  const again = await add(fixture, { email: 'ADA@xn--bcher-kva.example', reason: 'other' })
  t.is(again.status, 200)
  t.deepEqual(again.body, first.body)
  const one = `${path}/${String(id)}`
  t.deepEqual((await fixture.rest.call('GET', one)).body, first.body)
  const until = new Date(fixture.clock.now() + hour).toISOString()
  t.like(await fixture.rest.must('PATCH', one, { reason: null, expires_at: until }), { reason: null, expires_at: until })
  t.like(await fixture.rest.must('PATCH', one, { expires_at: null }), { reason: null, expires_at: null })
  t.is((await fixture.rest.call('DELETE', one)).status, 204)
  t.is((await fixture.rest.call('DELETE', one)).status, 204)
  t.is((await fixture.rest.call('GET', one)).status, 404)
  t.is((await fixture.rest.call('PATCH', one, { reason: 'x' })).status, 404)
  t.is((await add(fixture, { email: 'ada@bücher.example' })).status, 201)
})

test('invalid entries are refused with the name of the field', async (t) => {
  const fixture = await startFixture(t)
  const { id } = objectOf(await add(fixture, { email: 'ada@example.ch' }))
  const past = new Date(fixture.clock.now()).toISOString()
  const cases: readonly (readonly [Json, string])[] = [
    [{ email: 'ada' }, 'email: must be one address such as ada@example.ch'],
    [{ email: 'Ada <a@b.ch>' }, 'email: must be one address such as ada@example.ch'],
    [{ email: 'a@b.ch', expires_at: past }, 'expires_at: must be in the future; leave it out to suppress permanently'],
    [{ email: 'a@b.ch', source: 'bounce' }, 'source: is not a known field'],
    [{}, 'email: is required'],
  ]
  for (const [body, message] of cases) t.deepEqual(refusal(await add(fixture, body)), [400, 'validation_failed', message])
  t.is((await add(fixture, { email: 'a@b.ch', project_id: 'prj_none' })).status, 404)
  t.deepEqual(refusal(await fixture.rest.call('PATCH', `${path}/${String(id)}`, { expires_at: past })), [
    400,
    'validation_failed',
    'expires_at: must be in the future; delete the suppression to end it now',
  ])
  t.deepEqual(await emails(fixture), ['ada@example.ch'])
})

test('suppressions are listed newest first, in pages, with filters', async (t) => {
  const fixture = await startFixture(t)
  const { project_id } = await fixture.rest.must('GET', '/v1/projects/me')
  const start = fixture.clock.now()
  for (const [i, name] of ['anna', 'ben', 'carla', 'dan'].entries()) {
    await add(fixture, { email: `${name}@example.ch`, ...(i % 2 === 0 && { project_id }) })
    fixture.clock.advance(1000)
  }
  await importRows(fixture, 'application/json', '[{"email":"eva@example.net"}]')
  t.deepEqual(await listed(fixture), ['eva@example.net', 'dan@example.ch', 'carla@example.ch', 'ben@example.ch', 'anna@example.ch'])
  t.deepEqual(column(await Array.fromAsync(fixture.rest.rows(`${path}?q=EXAMPLE.CH`, 1)), 'email'), [
    'dan@example.ch',
    'carla@example.ch',
    'ben@example.ch',
    'anna@example.ch',
  ])
  t.deepEqual(await listed(fixture, '?source=import'), ['eva@example.net'])
  t.deepEqual(await listed(fixture, `?project_id=${String(project_id)}`), ['carla@example.ch', 'anna@example.ch'])
  t.deepEqual(await listed(fixture, `?created_after=${new Date(start + 1000).toISOString()}&source=manual`), [
    'dan@example.ch',
    'carla@example.ch',
  ])
  t.is((await fixture.rest.call('GET', `${path}?project_id=prj_none`)).status, 404)
  t.is((await fixture.rest.call('GET', `${path}?source=other`)).status, 400)
  t.is((await fixture.rest.call('GET', `${path}?project=${String(project_id)}`)).status, 400, 'the list belongs to the organization')
})

test('suppressions belong to the organization; others cannot read or change them', async (t) => {
  const fixture = await startFixture(t)
  const project = await fixture.addProject()
  const bound = await fixture.withKey(['api:admin'], project)
  const { id } = objectOf(await add(fixture, { email: 'ada@example.ch' }))
  t.is((await bound.call('POST', path, { email: 'ada@example.ch' })).status, 200)
  t.like((await bound.call('POST', path, { email: 'ben@example.ch' })).body, { project_id: project })
  const other = await fixture.addOrganization()
  t.is((await other.rest.call('GET', `${path}/${String(id)}`)).status, 404)
  t.is((await other.rest.call('PATCH', `${path}/${String(id)}`, { reason: 'x' })).status, 404)
  t.is((await other.rest.call('DELETE', `${path}/${String(id)}`)).status, 204)
  t.is((await other.rest.call('POST', path, { email: 'ada@example.ch' })).status, 201)
  t.deepEqual(await emails(fixture), ['ada@example.ch', 'ben@example.ch'])
  const reader = await fixture.withKey(['api:send'])
  for (const [method, where] of [
    ['POST', path],
    ['POST', `${path}/bulk-import`],
    ['DELETE', `${path}/${String(id)}`],
  ] as const)
    t.is((await reader.call(method, where, { email: 'x@y.ch' })).status, 403)
})

test('an import adds new rows, keeps existing ones and reports invalid rows by number', async (t) => {
  const fixture = await startFixture(t)
  await add(fixture, { email: 'there@example.ch' })
  const rows = [
    { email: 'New@example.ch', reason: 'old list', name: 'Ada' },
    { email: 'there@example.ch' },
    { email: 'nobody' },
    { reason: 'no address' },
    7,
    { email: 'NEW@example.ch' },
    { email: 'late@example.ch', expires_at: '2001-01-01T00:00:00Z' },
    { email: 'far@example.ch', project_id: 'prj_none' },
    { email: 'last@example.ch', expires_at: null },
  ]
  for (const body of [rows, { rows }]) {
    const fresh = Array.isArray(body)
    const report = await importRows(fixture, 'application/json', JSON.stringify(body))
    t.is(report.status, 200)
    t.deepEqual(report.body as Report, {
      ...{ total: 9, added: fresh ? 2 : 0, already_there: fresh ? 2 : 4, refused: 5, ignored_fields: ['name'] },
      rows: [
        { row: 1, result: fresh ? 'added' : 'already_there' },
        { row: 2, result: 'already_there' },
        { row: 3, result: 'refused', email: 'nobody', message: 'email: must be one address such as ada@example.ch' },
        { row: 4, result: 'refused', email: null, message: 'email: is required' },
        { row: 5, result: 'refused', email: null, message: 'the row must be an object such as {"email": "ada@example.ch"}' },
        { row: 6, result: 'already_there' },
        {
          ...{ row: 7, result: 'refused', email: 'late@example.ch' },
          message: 'expires_at: must be in the future; leave it out to suppress permanently',
        },
        {
          ...{ row: 8, result: 'refused', email: 'far@example.ch' },
          message: 'project_id: no project has this id; leave it out to use the project of your key.',
        },
        { row: 9, result: fresh ? 'added' : 'already_there' },
      ],
    })
  }
  t.deepEqual(await emails(fixture), ['last@example.ch', 'new@example.ch', 'there@example.ch'])
  t.like((await Array.fromAsync(fixture.rest.rows(`${path}?q=new`)))[0], { reason: 'old list', source: 'import' })
})

test('an import takes CSV, with the same report', async (t) => {
  const fixture = await startFixture(t)
  const text = '\ufeffEmail,Reason,Status\r\n"a@example.ch","bounced, twice",x\r\nb@example.ch,"",\nc@example.ch,1,2,3\n"d"@example.ch,,\n'
  const { body } = await importRows(fixture, 'text/csv; charset=utf-8', text)
  t.like(body, { total: 4, added: 2, refused: 2, ignored_fields: ['status'] })
  t.deepEqual(columns(body.rows.slice(2), 'row', 'message'), [
    [3, 'the row has 4 cells, but the header row has 3; put cells that contain commas in quotes'],
    [4, 'the row has text after a closing quote'],
  ])
  t.like(objectOf(await fixture.rest.call('GET', `${path}?q=a@`))['data'], [{ email: 'a@example.ch', reason: 'bounced, twice' }])
})

test('an import that is unreadable or of another type is refused and adds nothing', async (t) => {
  const fixture = await startFixture(t)
  const cases: readonly (readonly [string, string, number, RegExp])[] = [
    ['application/json', '[{"email":"a@b.ch"},{"email":', 400, /^body: is not JSON: it ends too early, after row 1$/],
    ['application/json', '{"data":[]}', 400, /^body: must be an array of rows/],
    ['application/json', '', 400, /^body: must be an array of rows/],
    ['text/csv', 'a@b.ch\n', 400, /^body: the first row must contain the column names/],
    ['text/csv', 'email\na@b.ch\n"open', 400, /^body: a quote in row 2 is never closed$/],
    ['text/plain', 'email\na@b.ch\n', 415, /text\/csv/],
  ]
  for (const [type, text, status, message] of cases) {
    const answer = await importRows(fixture, type, text)
    t.is(answer.status, status, text)
    t.regex(answer.body.error.message, message)
  }
  t.deepEqual(await emails(fixture), [])
  t.like((await importRows(fixture, 'application/json', '[]')).body, { total: 0, rows: [] })
})

/** Generates CSV rows as a streaming client does. */
async function* csvOf(rows: number, reason: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from('email,reason\n')
  for (let i = 0; i < rows; i += 500) {
    const many = Array.from({ length: Math.min(500, rows - i) }, (_, n) => `user${i + n}@example.ch,${reason}\n`)
    yield Buffer.from(many.join(''))
  }
}

/** Records the largest write, in rows and bytes. */
function watchWrites(t: ExecutionContext, { database }: Fixture) {
  const largest = { rows: 0, bytes: 0 }
  const write = database.kv.write.bind(database.kv)
  database.kv.write = (one: Write) => {
    largest.rows = Math.max(largest.rows, one.sets.length)
    largest.bytes = Math.max(
      largest.bytes,
      one.sets.reduce((sum, { value }) => sum + value.length, 0),
    )
    return write(one)
  }
  t.teardown(() => void (database.kv.write = write))
  return largest
}

test('import: writes 50,000 rows in batches; refuses a file with one row more', async (t) => {
  const fixture = await startFixture(t)
  const largest = watchWrites(t, fixture)
  const over = await importRows(fixture, 'text/csv', csvOf(50_001, 'x'))
  t.is(over.status, 413)
  t.is(over.body.error.message, 'An import can have at most 50000 rows; no row was added. Split the import into several requests.')
  t.deepEqual(await emails(fixture), [])
  const { status, body } = await importRows(fixture, 'text/csv', csvOf(50_000, 'r'.repeat(100)))
  t.is(status, 200)
  t.like(body, { total: 50_000, added: 50_000, already_there: 0, refused: 0 })
  t.is(body.rows.length, 50_000)
  t.like(body.rows.at(-1), { row: 50_000, result: 'added' })
  t.true(largest.rows <= 1001, 'entries with their index rows, and the audit entry')
  t.true(largest.bytes < 512 * 1024, String(largest.bytes))
  const lines = (await exported(fixture)).split('\r\n')
  t.is(lines.length, 50_002)
  t.true(lines.slice(1).some((line) => line.startsWith('"user0@example.ch","rrr')))
  for await (const { key } of fixture.database.kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) }))
    if (Buffer.from(key).includes('content')) return t.fail('a part of the upload was stored')
})

test('exported cells start no spreadsheet formula, and the export can be imported again', async (t) => {
  const fixture = await startFixture(t)
  const hostile = ['=cmd|x!a1', '+1', '-1', '@x', "'=1", "'quoted", 'a,"b"', 'x;=1+1']
  for (const [i, reason] of hostile.entries()) await add(fixture, { email: `user${i}@example.ch`, reason })
  for (const email of ['=a@example.ch', '+b@example.ch', '-c@example.ch', "'d@example.ch", "'+e@example.ch"]) await add(fixture, { email })
  await add(fixture, { email: 'end@example.ch', expires_at: new Date(fixture.clock.now() + hour).toISOString() })
  const text = await exported(fixture)
  t.true(text.startsWith('"email","reason","source","project_id","expires_at","created_at","id"\r\n'))
  for (const line of text.split('\r\n')) for (const cell of line.split('",')) t.notRegex(cell, /^"?[=+\-@\t\r]/)
  const { rest, organizationId } = await fixture.addOrganization()
  t.not(organizationId, fixture.organizationId)
  const sent = await rest.call('POST', '/v1/api-keys', { name: 'x', scopes: ['api:admin'] })
  const { status, body } = await importRows(fixture, 'text/csv', text, String(objectOf(sent)['key']))
  t.is(status, 200)
  t.like(body, { total: 14, added: 14, ignored_fields: ['source', 'created_at', 'id'] })
  const shown = async (client: typeof rest) =>
    (await Array.fromAsync(client.rows(path)))
      .map(({ email, reason, expires_at }) => `${String(email)} ${String(reason)} ${String(expires_at)}`)
      .toSorted()
  t.deepEqual(await shown(rest), await shown(fixture.rest))
  t.is((await exported(fixture, '?q=user3@')).split('\r\n').length, 3)
})

test('sendMessage reports that every recipient is suppressed; the trace names the entry', async (t) => {
  const fixture = await startFixture(t)
  const reason = foreignText(t)
  const destination_id = await addDestination(fixture.rest, {}, true)
  const { id } = objectOf(await add(fixture, { email: 'ada@example.ch', reason }))
  const send = (to: readonly string[]) =>
    fixture.rest.must('POST', '/v1/messages', { from: 'shop@example.ch', to, text: 'x', destination_id })
  const { trace_id, ...all } = await send(['Ada@example.ch'])
  t.deepEqual(all, { outcome: 'relayed', status: 'suppressed' })
  const trace = await fixture.rest.must('GET', `/v1/traces/${String(trace_id)}`)
  t.like(trace, { status: 'suppressed', next_attempt_at: null })
  t.like((trace['recipients'] as Json[])[0], { status: 'suppressed', suppression: { id, source: 'manual', reason } })
  const entry = (trace['timeline'] as Json[]).at(-1)
  t.like(entry, { event: 'suppressed' })
  t.deepEqual(entry?.['detail'], {
    recipients: [{ address: 'Ada@example.ch', suppression_id: id, source: 'manual', reason }],
  })
  const shared = await fixture.rest.call('GET', `/share/traces/${String(trace_id)}`)
  t.false(shared.bytes.includes(reason) || shared.bytes.includes(String(id)))
  const some = await send(['ada@example.ch', 'ben@example.ch'])
  t.is(some['status'], undefined)
  const mixed = await fixture.rest.must('GET', `/v1/traces/${String(some['trace_id'])}`)
  t.is(mixed['status'], 'queued')
  t.deepEqual(column(mixed['recipients'] as Json[], 'status'), ['suppressed', 'queued'])
  const listed = await fixture.rest.call('GET', '/v1/traces?status=suppressed')
  t.is((objectOf(listed)['data'] as Json[]).length, 1)
  t.is(errorOf(await fixture.rest.call('GET', `${path}/sup_none`)).code, 'not_found')
})
