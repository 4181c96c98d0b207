/** Migration over REST: imports of lists and templates of other services and their reports, and the stored result. */
import test, { type ExecutionContext } from '#test'
import { adminKey, objectOf, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { waiting } from '../../../support/waits.ts'

type Json = Record<string, unknown>
const path = '/v1/suppressions/service-import'

async function imported(fixture: Fixture, body: string | Uint8Array | AsyncIterable<Uint8Array>, query = '', key = adminKey) {
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' },
    body,
    duplex: 'half',
  }
  const response = await fetch(`http://${fixture.address}${path}${query}`, init as RequestInit)
  const text = await response.text()
  if (response.status !== 200)
    return { status: response.status, notes: [], refused: JSON.parse(text) as { error: { code: string; message: string } } }
  const notes = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Json)
  return { status: 200, notes, summary: notes.at(-1) }
}

const listed = async (fixture: Fixture, list = '/v1/suppressions'): Promise<Json[]> =>
  (await Array.fromAsync(fixture.rest.rows(list))).toSorted((a, b) => (String(a['email']) < String(b['email']) ? -1 : 1))

const bounces =
  'status,reason,email,created\n5.1.1,no such user,Ada@Example.ch,1700000000\n4.4.1,later,ben@example.ch,1700000000\n5.1.1,x,nonsense,1700000000\n'

test('list import: detects the format, adds rows once, reports refused rows by line', async (t) => {
  const fixture = await startFixture(t)
  const before = await imported(fixture, bounces, '?dry_run=true')
  t.deepEqual(before.notes[0], { type: 'file', service: 'sendgrid', dry_run: true })
  t.deepEqual(await listed(fixture), [])
  const { notes } = await imported(fixture, bounces)
  t.deepEqual(notes, [
    { type: 'file', service: 'sendgrid', dry_run: false },
    {
      type: 'row',
      row: 2,
      line: 3,
      result: 'skipped',
      email: 'ben@example.ch',
      message: 'a block concerns one message; the service continues to send to the address',
    },
    { type: 'row', row: 3, line: 4, result: 'refused', email: 'nonsense', message: 'email: must be one address such as ada@example.ch' },
    { type: 'summary', total: 3, added: 1, already_there: 0, skipped: 1, refused: 1 },
  ])
  t.deepEqual(before.summary, notes.at(-1), 'the dry run has the same result')
  const [entry] = await listed(fixture)
  t.like(entry, { email: 'ada@example.ch', source: 'import', reason: 'SendGrid: bounce, 5.1.1 no such user (2023-11-14)' })
  t.like((await imported(fixture, bounces)).summary, { added: 0, already_there: 1 })
  const { data } = await fixture.rest.must('GET', '/v1/audit?limit=50')
  t.is((data as Json[]).filter(({ act }) => act === 'suppression.imported').length, 1, JSON.stringify(data))
})

test('list unsubscribes become opt-outs; unsubscribes from all mail, suppressions', async (t) => {
  const fixture = await startFixture(t)
  const tags = JSON.stringify({
    items: [
      { address: 'a@x.ch', tags: ['*'] },
      { address: 'b@x.ch', tags: ['news'] },
    ],
  })
  t.like((await imported(fixture, tags)).summary, { added: 2 })
  t.like((await imported(fixture, tags, '?dry_run=true')).summary, { added: 0, already_there: 2 })
  t.deepEqual(
    (await listed(fixture)).map(({ email }) => email),
    ['a@x.ch'],
  )
  t.like((await listed(fixture, '/v1/unsubscribes'))[0], { email: 'b@x.ch', list: 'news' })
  t.like((await imported(fixture, tags)).summary, { added: 0, already_there: 2 })
  t.like((await imported(fixture, 'email,created\nc@x.ch,1\n', '?list=weekly')).summary, { added: 1 })
  t.deepEqual(
    (await listed(fixture)).map(({ email }) => email),
    ['a@x.ch'],
  )
  t.like((await listed(fixture, '/v1/unsubscribes'))[1], { email: 'c@x.ch', list: 'weekly' })
  const contacts = 'id,email,unsubscribed\n1,d@x.ch,true\n2,e@x.ch,false\n'
  t.like((await imported(fixture, contacts)).summary, { added: 1, skipped: 1 })
  t.is((await listed(fixture, '/v1/unsubscribes')).length, 3)
})

test('an unreadable file is refused with the reason and adds nothing', async (t) => {
  const fixture = await startFixture(t)
  const cases: readonly (readonly [string | Uint8Array, string, RegExp])[] = [
    [`${bounces}"open`, '', /^body: a quote in row 4 is never closed/],
    ['name,phone\nA,1\n', '', /^body: matches no known service; its fields are name, phone;/],
    [Buffer.from('PK\u0003\u0004zip'), '', /^body: is a zip archive/],
    ['', '', /^body: is empty/],
    [bounces, '?service=other', /^service: must be one of resend/],
    [bounces, '?project_id=prj_none', /^project_id: no project/],
  ]
  for (const [body, query, message] of cases) {
    const { status, refused } = await imported(fixture, body, query)
    t.true(status === 400 || status === 404, String(status))
    t.regex(refused?.error.message ?? '', message)
  }
  t.deepEqual(await listed(fixture), [])
})

test('list import: resumable, does not block requests, ends if the client disconnects', async (t) => {
  const fixture = await startFixture(t)
  const rows = 20_000
  const row = (i: number): string => `{"EmailAddress":"n${i}@example.ch","Reason":"BOUNCE","LastUpdateTime":1700000000.5}`
  async function* file(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < rows; i += 1000) yield Buffer.from(`${Array.from({ length: 1000 }, (_, j) => row(i + j)).join('\n')}\n`)
  }
  const running = imported(fixture, file(), '?from_row=12001')
  t.is((await waiting('an answer during the import', fixture.rest.call('GET', '/v1/projects/me'))).status, 200)
  const { notes, summary } = await running
  t.deepEqual(summary, { type: 'summary', total: rows, added: 8000, already_there: 0, skipped: 0, refused: 0 })
  t.is(notes.filter(({ type }) => type === 'progress').length, 40)
  const aborter = new AbortController()
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/octet-stream' },
    body: file(),
    duplex: 'half',
    signal: aborter.signal,
  }
  const response = await fetch(`http://${fixture.address}${path}`, init as RequestInit)
  await response.body?.getReader().read()
  aborter.abort()
  t.like((await imported(fixture, file())).summary, { total: rows, refused: 0, skipped: 0 })
  t.is(await fixture.rest.call('GET', '/v1/suppressions/export').then(({ bytes }) => bytes.toString().trim().split('\n').length), rows + 1)
})

async function templates(t: ExecutionContext, fixture: Fixture, body: Json): Promise<Json> {
  const response = await fixture.rest.call('POST', '/v1/templates/service-import', body)
  t.is(response.status, 200, response.bytes.toString())
  return objectOf(response)
}

test('a dry run of a template import makes all checks, including the plan limit', async (t) => {
  const fixture = await startFixture(t, { plan: 'free' })
  const numbered = (n: number): Json => ({
    TemplateId: n,
    Name: `Welcome ${String(n)}`,
    Alias: `welcome-${String(n)}`,
    Subject: 'Hi',
    TextBody: 'Hi',
  })
  const document = { Templates: [1, 2, 3, 4, 5].map(numbered) }
  const dry = await templates(t, fixture, { document, dry_run: true })
  t.like(dry, { created: 3, refused: 2 })
  t.deepEqual(await Array.fromAsync(fixture.rest.rows('/v1/templates')), [])
  const real = await templates(t, fixture, { document })
  const shown = ({ templates: all, ...counts }: Json): Json => ({ ...counts, templates: (all as Json[]).map(({ id: _, ...one }) => one) })
  t.deepEqual(shown(dry), shown(real))
})

test('template import: translated once; unsupported parts have line and column', async (t) => {
  const fixture = await startFixture(t)
  const welcome = {
    TemplateId: 7,
    Alias: 'Welcome',
    Name: 'Welcome',
    Subject: 'Hi {{name}}',
    TextBody: '{{#each items}}- {{title}}\n{{/each}}',
    HtmlBody: '<p>{{name}}',
  }
  const bad = { TemplateId: 8, Name: 'Bad', Subject: 'x', HtmlBody: '<p>\n {{{raw}}}' }
  const document = { Templates: [welcome, bad] }
  t.like(await templates(t, fixture, { document, dry_run: true }), { total: 2, created: 1, refused: 1 })
  t.deepEqual(await Array.fromAsync(fixture.rest.rows('/v1/templates')), [])
  const report = await templates(t, fixture, { document })
  t.like(report, { total: 2, created: 1, updated: 0, unchanged: 0, refused: 1 })
  const [first, second] = report['templates'] as (Json & { findings: Json[] })[]
  t.like(first, { slug: 'welcome', result: 'created' })
  t.deepEqual(first?.findings, [{ part: 'template', message: 'requests must use the slug welcome' }])
  t.like(second, { slug: '8', result: 'refused', id: null })
  t.like(second?.findings[0], { part: 'html', line: 2, column: 2 })
  const preview = await fixture.rest.must('POST', `/v1/templates/${String(first?.['id'])}/preview`, {
    variables: { items: [{ title: 'A' }] },
  })
  t.like(preview, { subject: 'Hi ', text: '- A\n', html: '<p>' }, 'omitted variables stay empty')
  t.like(await templates(t, fixture, { document: welcome }), { unchanged: 1 })
  const changed = { ...welcome, Subject: 'Hello {{name}}' }
  t.like(await templates(t, fixture, { document: changed }), { refused: 1 })
  t.like(await templates(t, fixture, { document: changed, replace: true }), { updated: 1 })
  t.like(await fixture.rest.must('GET', `/v1/templates/${String(first?.['id'])}`), { current_version: 2, subject_tmpl: 'Hello {{.name}}' })
  const { status, body } = await fixture.rest.call('POST', '/v1/templates/service-import', { document: { x: 1 } })
  t.is(status, 400, JSON.stringify(body))
})
