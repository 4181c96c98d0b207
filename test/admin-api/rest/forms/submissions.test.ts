/** Submissions by REST: searching, changing and deleting them. */
import test from '#test'
import { formSubmissions, nonceKey } from '#core/forms/submissions/submission.ts'
import { integrityChecks } from '#core/integrity.ts'
import { verify } from '#store/verify/verify.ts'
import { within } from '#store/tuple.ts'
import { refusal } from '../fixture/rest-fixture.ts'
import { formFixture, type FormFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>

async function filled(fixture: FormFixture, ...messages: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const message of messages) {
    const { body } = await fixture.send({ email: 'ada@example.ch', message })
    ids.push(String((body as Row)['id']))
    fixture.clock.advance(10_000)
  }
  return ids
}

test('submissions are listed in pages, by status, words, time, version and tag', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, submissions, clock, publish } = fixture
  const [first, second, third] = await filled(fixture, 'About the Invoice', 'Broken shop', 'invoice of may')
  const ids = async (query: string) => (await submissions(query)).map(({ id }) => id)
  t.deepEqual(await ids(''), [third, second, first])
  t.deepEqual(
    (await Array.fromAsync(rest.rows(`${path}/submissions`, 2))).map(({ id }) => id),
    [third, second, first],
  )
  t.deepEqual(await ids('q=INVOICE'), [third, first])
  t.deepEqual(await ids('q=invoice%20may'), [third])
  const [, middle] = await submissions()
  t.deepEqual(await ids(`from=${String(middle?.['created_at'])}`), [third, second])
  t.deepEqual(await ids(`to=${String(middle?.['created_at'])}`), [first])
  await rest.must('PATCH', `${path}/submissions/${String(first)}`, { status: 'read', tags: ['urgent'], note: 'Called back' })
  t.deepEqual(
    [await ids('status=read'), await ids('status=new'), await ids('tag=urgent'), await ids('q=called')],
    [[first], [third, second], [first], [first]],
  )
  await publish({ name: 'Contact 2' })
  const [fourth] = await filled(fixture, 'New')
  t.deepEqual([await ids('version=2'), await ids('version=1')], [[fourth], [third, second, first]])
  t.true(clock.now() > 0)
})

test('submissions of all reachable forms are one list with status, q, tag and assignee', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, form, send, token, clock, addOrganization, addMember } = fixture
  const [first = ''] = await filled(fixture, 'About the invoice')
  const { id: target } = await rest.must('POST', '/v1/projects', { name: 'Other' })
  const { id: moved } = await rest.must('POST', `/v1/forms/${form}/duplicate`, { project_id: target })
  await rest.must('POST', `/v1/forms/${String(moved)}/publish`)
  const { public_id: open } = await rest.must('GET', `/v1/forms/${String(moved)}`)
  const { fill_time_token: _mnx_ft } = await rest.must('GET', `/v1/public/forms/${String(open)}`)
  clock.advance(10_000)
  const data = { email: 'bea@example.ch', message: 'Another invoice' }
  const { id: second } = await rest.must('POST', `/v1/public/forms/${String(open)}/submissions`, { data, _mnx_ft })
  const [third = ''] = await filled(fixture, 'Broken shop')
  await send({ email: 'ada@example.ch' }, { _mnx_ft: await token(100) })
  const ids = async (query: string) => {
    const { data: rows } = await rest.must('GET', `/v1/forms/submissions?${query}`)
    return (rows as Row[]).map(({ id }) => id)
  }
  t.is((await ids('')).length, 4)
  t.deepEqual(await ids('status=open'), [third, second, first])
  t.deepEqual((await Array.fromAsync(rest.rows('/v1/forms/submissions', 1))).map(({ id }) => id).slice(1), [third, second, first])
  t.deepEqual(await ids('q=INVOICE'), [second, first])
  t.deepEqual(await ids(`project=${String(target)}`), [second])
  const assignee = await addMember('olga@example.ch', 'developer')
  await rest.must('PATCH', `${path}/submissions/${first}`, { status: 'archived', assignee, tags: ['urgent'] })
  t.deepEqual(
    [await ids('status=open'), await ids(`assignee=${assignee}`), await ids('assignee=none&status=open'), await ids('tag=urgent')],
    [[third, second], [first], [third, second], [first]],
  )
  t.deepEqual(
    (await fixture.submissions('status=open&assignee=none')).map(({ id }) => id),
    [third],
  )
  t.deepEqual((await (await addOrganization()).rest.must('GET', '/v1/forms/submissions'))['data'], [])
  await rest.must('DELETE', `/v1/forms/${String(moved)}?confirm=${encodeURIComponent('Contact (copy)')}`)
  t.deepEqual(await ids('status=open'), [third])
})

test('a submission is changed, marked and deleted; other keys and forms do not reach it', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, addOrganization, addMember } = fixture
  const [id = ''] = await filled(fixture, 'Hello')
  const assignee = await addMember('olga@example.ch', 'developer')
  const one = `${path}/submissions/${id}`
  t.like(await rest.must('GET', one), { id, status: 'new', tags: [], assignee: null, note: '' })
  const changes = { status: 'replied', tags: ['a', 'a', 'b'], assignee, note: 'Done' }
  t.like(await rest.must('PATCH', one, changes), { ...changes, tags: ['a', 'b'] })
  t.deepEqual(refusal(await rest.call('PATCH', one, { assignee: 'usr_1' })).slice(0, 2), [400, 'validation_failed'], 'no member')
  t.like(await rest.must('PATCH', one, { assignee: null }), { assignee: null, note: 'Done' })
  const { id: other } = await rest.must('POST', '/v1/forms', { name: 'Other' })
  t.deepEqual(refusal(await rest.call('GET', `/v1/forms/${String(other)}/submissions/${id}`)), [
    ...[404, 'not_found'],
    'No submission of this form has this id.',
  ] as never)
  const outsider = (await addOrganization()).rest
  for (const where of [`${path}/submissions`, one]) t.is((await outsider.call('GET', where)).status, 404)
  t.is((await rest.call('DELETE', one)).status, 204)
  t.is((await rest.call('GET', one)).status, 404)
})

test('bulk actions change many submissions in one write', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, submissions, send, token } = fixture
  const ids = await filled(fixture, 'a', 'b', 'c')
  await send({ email: 'ada@example.ch' }, { _mnx_ft: await token(100) })
  const [spam] = await submissions('status=spam')
  const bulk = async (action: string, of: readonly unknown[]) =>
    (await rest.must('POST', `${path}/submissions/bulk`, { action, ids: of }))['changed']
  t.is(await bulk('not_spam', [spam?.['id'], ids[0], 'sub_none']), 2)
  t.like(await rest.must('GET', `${path}/submissions/${String(spam?.['id'])}`), { status: 'new', spam_reasons: ['too_fast'] })
  t.is(await bulk('archive', ids), 3)
  t.is((await submissions('status=archived')).length, 3)
  t.is(await bulk('spam', [ids[0]]), 1)
  t.is(await bulk('delete', ids), 3)
  t.is((await submissions()).length, 1)
  const { data: entries } = await rest.must('GET', '/v1/audit?act=form_submission.deleted')
  t.deepEqual((entries as Row[]).map(({ target }) => String(target)).toSorted(), ids.toSorted(), 'the deleting user is recorded')
})

test('deleting a form or a project leaves no submission or form in the store', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, form, database, organizationId, removals } = fixture
  await filled(fixture, 'a', 'b')
  const rows = async (): Promise<number> => {
    const nonces = await Array.fromAsync(database.kv.range(within(nonceKey(organizationId, form, '').slice(0, -1))))
    return nonces.length + (await database.all(formSubmissions, { organizationId })).length
  }
  t.is(await rows(), 4)
  const problems = async () => (await verify(database, integrityChecks(database))).problems
  t.deepEqual(await problems(), [])
  await rest.must('DELETE', `${path}?confirm=Contact`)
  await removals.idle()
  t.is(await rows(), 0)
  t.deepEqual(await problems(), [])
})

test('an export has the columns of all versions, escapes formulas, and omits spam', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, send, publish, token } = fixture
  await send({ email: 'ada@example.ch', message: '=HYPERLINK("x")', topics: ['a', 'b'] })
  await send({ email: 'spam@example.ch' }, { _mnx_ft: await token(100) })
  await publish({
    schema: {
      version: 1,
      fields: [
        { key: 'amount', type: 'number', label: 'Amount' },
        { key: 'email', type: 'email', label: 'Email' },
      ],
    },
  })
  await send({ amount: -5, email: 'bea@example.ch' })
  const { headers, bytes } = await rest.call('GET', `${path}/submissions/export?tz=Europe/Zurich`)
  t.is(headers['content-type'], 'text/csv; charset=utf-8; header=present')
  t.is(headers['content-disposition'], 'attachment; filename="submissions.csv"')
  const [head, first, second, end] = bytes.toString('utf8').split('\r\n')
  t.is(head, '\ufeff"id","created_at","status","_version","_reference","amount","email","message","topics"')
  t.regex(first ?? '', /^"sub_\w+","2030-01-01 01:00:05","new",1,"[0-9A-F]{8}",,"ada@example\.ch","'=HYPERLINK\(""x""\)","a; b"$/)
  t.regex(second ?? '', /"new",2,"[0-9A-F]{8}",-5,"bea@example\.ch",,$/)
  t.is(end, '')
  const json = JSON.parse((await rest.call('GET', `${path}/submissions/export?format=json&columns=email`)).bytes.toString()) as {
    data: Row[]
  }
  t.deepEqual(
    json.data.map(({ answers }) => answers),
    [{ email: 'ada@example.ch' }, { email: 'bea@example.ch' }],
  )
  const lines = (await rest.call('GET', `${path}/submissions/export?format=jsonl&status=spam`)).bytes.toString().trim().split('\n')
  t.like(JSON.parse(lines[0] ?? ''), { answers: { email: 'spam@example.ch' }, spam_reasons: ['too_fast'] })
  t.is(lines.length, 1)
  t.is((await rest.call('GET', `${path}/submissions/export?tz=Mars/Base`)).status, 400)
  for (const format of ['csv', 'json']) {
    const odd = await rest.call('GET', `${path}/submissions/export?format=${format}&columns=__proto__,constructor,email`)
    t.is(odd.status, 200)
    t.true(odd.bytes.includes('ada@example.ch') && !odd.bytes.includes('native code'), 'a property of every object is not an answer')
  }
})

test("submissions are deleted when the form's retention ends", async (t) => {
  const fixture = await formFixture(t)
  const { clock, submissions, publish, daemon } = fixture
  await filled(fixture, 'old')
  clock.advance(3 * 86_400_000)
  await filled(fixture, 'new')
  await daemon.retention.round()
  t.is((await submissions()).length, 2, 'stored without limit by default')
  await publish({ settings: { retention_days: 2 } })
  await daemon.retention.round()
  t.like(await submissions(), [{ answers: { message: 'new' } }])
  t.is((await submissions()).length, 1)
})

test('a full form accepts answers again after a submission becomes spam or is deleted', async (t) => {
  const fixture = await formFixture(t, { settings: { max_submissions: 2 } })
  const { rest, path, send, get } = fixture
  const isClosed = async (): Promise<unknown> => ((await get()).body as { closed: unknown }).closed
  const [first = '', second = ''] = await filled(fixture, 'a', 'b')
  t.is(await isClosed(), true)
  await rest.must('PATCH', `${path}/submissions/${first}`, { status: 'spam' })
  t.is(await isClosed(), false)
  await rest.must('POST', `${path}/submissions/bulk`, { action: 'not_spam', ids: [first] })
  t.is(await isClosed(), true)
  await rest.must('DELETE', `${path}/submissions/${second}`)
  t.is(await isClosed(), false)
  t.is((await send({ email: 'ada@example.ch' })).status, 201)
  t.is((await send({ email: 'ada@example.ch' })).status, 404)
})

test('phone numbers and addresses are accepted in the formats that people paste', async (t) => {
  const phone = { key: 'phone', type: 'phone', label: 'Phone' }
  const email = { key: 'email', type: 'email', label: 'Email' }
  const { send, submissions } = await formFixture(t, { schema: { version: 1, fields: [email, phone] } })
  const pasted: readonly (readonly [string, string])[] = [
    ['+41\u00a079\u00a0123\u00a045\u00a067', '+41 79 123 45 67'],
    ['\u202a+41 79 123 45 67\u202c', '+41 79 123 45 67'],
    ['\u200e+41 79 123\u201345\u201167', '+41 79 123-45-67'],
    ['044 123 45 67 ext. 12', '044 123 45 67 ext. 12'],
    ['044/123 45 67', '044/123 45 67'],
  ]
  for (const [given] of pasted) t.is((await send({ phone: given, email: 'ada@example.ch\u200b' })).status, 201, given)
  const kept = (await submissions()).map(({ answers }) => answers)
  t.deepEqual(
    kept.toReversed(),
    pasted.map(([, shown]) => ({ email: 'ada@example.ch', phone: shown })),
  )
})

test('invisible characters are not an answer and do not count toward its length', async (t) => {
  const name = { key: 'name', type: 'text', label: 'Name', required: true, min_length: 2, max_length: 5 }
  const { send, submissions } = await formFixture(t, { schema: { version: 1, fields: [name] } })
  for (const [given, code] of [
    ['\u200b', 'required'],
    ['\u00ad\u2060\u3164', 'required'],
    ['A\u200b', 'too_short'],
    ['Agathe\u200b', 'too_long'],
  ] as const) {
    const { status, body } = await send({ name: given })
    t.is(status, 400, given)
    t.true(JSON.stringify(body).includes(`"${code}"`), JSON.stringify(body))
  }
  const family = '\u{1f468}\u200d\u{1f467}'
  for (const given of ['\u202aClara\u202c', family]) t.is((await send({ name: given })).status, 201, given)
  t.deepEqual((await submissions()).map(({ answers }) => answers).toReversed(), [{ name: 'Clara' }, { name: family }])
})
