import test from '#test'
import { templateVersions, versionId } from '#core/templates/template.ts'
import { Change } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import { errorOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { assertSound, problemsOf } from '../../../support/problems.ts'
import { column, columns } from '../../../support/column.ts'

const welcome = {
  slug: 'welcome',
  name: 'Welcome',
  subject_tmpl: 'Hello {{.name}}',
  text_tmpl: 'Hi {{.name}}',
  html_tmpl: '<p>{{.name}}</p>',
}
const none = [404, 'not_found', 'No template has this id.'] as const

const create = (fixture: Fixture, changes: object = {}) => fixture.rest.must('POST', '/v1/templates', { ...welcome, ...changes })
test('createTemplate returns the whole resource, in version 1', async (t) => {
  const fixture = await startFixture(t)
  const schema_json = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const made = await fixture.rest.call('POST', '/v1/templates', { ...welcome, schema_json })
  t.is(made.status, 201)
  const { id, project_id, ...others } = made.body as Record<string, unknown>
  t.regex(String(id), /^tpl_[0-9a-f]{32}$/)
  t.is(project_id, (await fixture.rest.must('GET', '/v1/projects/me'))['project_id'])
  const now = new Date(fixture.clock.now()).toISOString()
  t.deepEqual(others, { ...welcome, schema_json, current_version: 1, created_at: now, updated_at: now })
  t.deepEqual(await fixture.rest.must('GET', `/v1/templates/${String(id)}`), made.body as never)
  const subjectOnly = await create(fixture, { slug: 'short', text_tmpl: null, html_tmpl: undefined, schema_json: null })
  t.like(subjectOnly, { text_tmpl: null, html_tmpl: null, schema_json: null })
  await assertSound(t, fixture)
})

test('createTemplate accepts the schema as JSON text too', async (t) => {
  const fixture = await startFixture(t)
  const schema_json = { type: 'object', properties: { name: {} } }
  t.deepEqual((await create(fixture, { schema_json: JSON.stringify(schema_json) }))['schema_json'], schema_json)
})

test('createTemplate names invalid fields', async (t) => {
  const fixture = await startFixture(t)
  const wrong = async (changes: object) => {
    const answer = await fixture.rest.call('POST', '/v1/templates', { ...welcome, ...changes })
    t.is(answer.status, 400)
    return errorOf(answer).message
  }
  const slug = 'slug: must be a name such as order-confirmation: small letters, digits, ., _ and -, at most 64, and no id'
  for (const bad of ['Welcome', 'a b', '-a', 'ä', 'tpl_1']) t.is(await wrong({ slug: bad }), slug)
  t.is(await wrong({ slug: undefined }), 'slug: is required')
  t.is(await wrong({ slug: 'x'.repeat(65) }), 'slug: at most 64 characters')
  t.is(await wrong({ name: 'a\nb' }), 'name: must be on one line, without control characters')
  t.is(await wrong({ name: undefined }), 'name: is required')
  t.is(await wrong({ subject_tmpl: '' }), 'subject_tmpl: must not be empty')
  t.is(await wrong({ subject_tmpl: 'a\r\nBcc: x@y.ch' }), 'subject_tmpl: must be on one line, without control characters')
  t.is(await wrong({ html_tmpl: 'x'.repeat(262_145) }), 'html_tmpl: at most 262144 characters')
  t.is(await wrong({ html_tmpl: '<p>\n  {{if .name}}' }), 'html_tmpl: line 2, column 5: this if is never ended; write {{end}}')
  t.is(
    await wrong({ text_tmpl: '{{.fields.email}}' }),
    'text_tmpl: line 1, column 3: fields.email belongs to replies to forms; declare both fields and form in schema_json',
  )
  t.is(await wrong({ schema_json: [] }), 'schema_json: expected an object or text, got a list')
  t.is(await wrong({ schema_json: '[]' }), 'schema_json: must be an object')
  t.regex(await wrong({ schema_json: '{"type":' }), /^schema_json: is not JSON: line 1, column 9/)
  t.is(await wrong({ schema_json: `{"default":${'['.repeat(40)}${']'.repeat(40)}}` }), 'schema_json: nests deeper than 32 levels')
  t.is(await wrong({ schema_json: { type: 'object', description: 'x'.repeat(32_768) } }), 'schema_json: at most 32768 characters of JSON')
  t.is(await wrong({ html: 'x' }), 'html: is not a known field')
  const { details } = errorOf(
    await fixture.rest.call('POST', '/v1/templates', { ...welcome, schema_json: { type: 'object', properties: {} } }),
  )
  t.deepEqual(columns((details?.['fields'] ?? []) as { path: string; variable: string }[], 'path', 'variable'), [
    ['subject_tmpl', 'name'],
    ['text_tmpl', 'name'],
    ['html_tmpl', 'name'],
  ])
  t.deepEqual(await fixture.rest.must('GET', '/v1/templates'), { data: [], next_cursor: null })
})

test('a slug is unique in each project', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture)
  const other = await create(fixture, { slug: 'other' })
  const message = 'slug: another template of this project has the slug welcome; choose another, or save a new version of that template.'
  for (const answer of [
    await fixture.rest.call('POST', '/v1/templates', welcome),
    await fixture.rest.call('PUT', `/v1/templates/${String(other['id'])}`, welcome),
  ]) {
    t.deepEqual(refusal(answer), [409, 'conflict', message])
    t.deepEqual(errorOf(answer).details, { template_id: made['id'] })
  }
  t.is((await create(fixture, { project_id: await fixture.addProject() }))['slug'], 'welcome')
  const both = await Promise.all(['x', 'x'].map((slug) => fixture.rest.call('POST', '/v1/templates', { ...welcome, slug })))
  t.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409],
  )
})

test('every save of changed content is a version; earlier versions stay unchanged', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture)
  const path = `/v1/templates/${String(made['id'])}`
  fixture.clock.advance(1000)
  const { slug: _, name: __, ...content } = welcome
  t.deepEqual(await fixture.rest.must('PUT', path, content), made, 'the same content changes nothing')
  const now = new Date(fixture.clock.now()).toISOString()
  const second = await fixture.rest.must('PUT', path, { subject_tmpl: 'Hello again' })
  t.deepEqual(second, { ...made, subject_tmpl: 'Hello again', text_tmpl: null, html_tmpl: null, current_version: 2, updated_at: now })
  const renamed = await fixture.rest.must('PUT', path, { slug: 'hello', name: 'Hello', subject_tmpl: 'Hello again' })
  t.deepEqual(renamed, { ...second, slug: 'hello', name: 'Hello' }, 'slug and name belong to the template, not to its versions')
  await fixture.rest.must('PUT', path, content)
  const seen: Record<string, unknown>[] = []
  for await (const version of fixture.rest.rows(`${path}/versions`, 2)) seen.push(version)
  t.deepEqual(column(seen, 'version'), [3, 2, 1])
  t.deepEqual(Object.keys(seen[0] ?? {}), ['template_id', 'version', 'saved_by', 'created_at'])
  const first = await fixture.rest.must('GET', `${path}/versions/1`)
  t.deepEqual(first, { ...seen[2], ...content, schema_json: null })
  t.like(await fixture.rest.must('GET', `${path}/versions/2`), {
    version: 2,
    subject_tmpl: 'Hello again',
    text_tmpl: null,
    created_at: now,
  })
  t.deepEqual(refusal(await fixture.rest.call('GET', `${path}/versions/4`)), [
    404,
    'not_found',
    'version: there is no version 4; the template has versions 1 to 3.',
  ])
  t.is(errorOf(await fixture.rest.call('GET', `${path}/versions/latest`)).message, 'version: must be the number of a version, such as 1')
  await assertSound(t, fixture)
})

test('concurrent saves are separate versions', async (t) => {
  const fixture = await startFixture(t)
  const path = `/v1/templates/${String((await create(fixture))['id'])}`
  const texts = Array.from({ length: 8 }, (_, index) => `Text ${index}`)
  await Promise.all(texts.map((text_tmpl) => fixture.rest.must('PUT', path, { subject_tmpl: 'x', text_tmpl })))
  t.is((await fixture.rest.must('GET', path))['current_version'], 9)
  const kept = await Promise.all(
    texts.map(async (_, index) => (await fixture.rest.must('GET', `${path}/versions/${index + 2}`))['text_tmpl']),
  )
  t.deepEqual(kept.map(String).toSorted(), texts)
})

test('listTemplates shows slug, name and current version, newest first, in pages', async (t) => {
  const fixture = await startFixture(t)
  const project = await fixture.addProject()
  for (const slug of ['a', 'b', 'c']) {
    fixture.clock.advance(1)
    await create(fixture, { slug, project_id: slug === 'b' ? project : undefined })
  }
  const slugs = async (path: string) => {
    const seen: unknown[] = []
    for await (const row of fixture.rest.rows(path, 2)) seen.push(row['slug'])
    return seen
  }
  t.deepEqual(await slugs('/v1/templates'), ['c', 'b', 'a'])
  t.deepEqual(await slugs(`/v1/templates?project=${project}`), ['b'])
  const [row] = (await fixture.rest.must('GET', '/v1/templates?limit=1'))['data'] as object[]
  t.deepEqual(Object.keys(row ?? {}), ['id', 'project_id', 'slug', 'name', 'current_version', 'created_at', 'updated_at'])
})

test('previewTemplate renders the current version or a named one', async (t) => {
  const fixture = await startFixture(t)
  const path = `/v1/templates/${String((await create(fixture))['id'])}`
  await fixture.rest.must('PUT', path, { subject_tmpl: 'Bye', text_tmpl: '{{if .name}}{{.name}}, {{end}}bye' })
  const preview = (body: object) => fixture.rest.must('POST', `${path}/preview`, body)
  t.deepEqual(await preview({ variables: { name: 'Ada' } }), { version: 2, subject: 'Bye', text: 'Ada, bye', html: null })
  t.deepEqual(await preview({}), { version: 2, subject: 'Bye', text: 'bye', html: null })
  const first = await preview({ variables: { name: '<Ada>\n' }, version: 1 })
  t.deepEqual(first, { version: 1, subject: 'Hello <Ada> ', text: 'Hi <Ada>\n', html: '<p>&lt;Ada&gt;\n</p>' })
  const wrong = async (body: object) => refusal(await fixture.rest.call('POST', `${path}/preview`, body))
  const missing = 'variables.name: is missing; subject_tmpl uses it in line 1, column 9'
  t.deepEqual(await wrong({ version: 1 }), [400, 'validation_failed', missing])
  t.deepEqual(await wrong({ version: 3 }), [400, 'validation_failed', 'version: there is no version 3; the template has versions 1 to 2'])
  t.deepEqual(await wrong({ variables: [] }), [400, 'validation_failed', 'variables: expected an object, got a list'])
  t.deepEqual(await wrong({ template_vars: {} }), [400, 'validation_failed', 'template_vars: is not a known field'])
})

test('deleteTemplate deletes all versions and frees the slug', async (t) => {
  const fixture = await startFixture(t)
  const path = `/v1/templates/${String((await create(fixture))['id'])}`
  await fixture.rest.must('PUT', path, { subject_tmpl: 'Second' })
  t.is((await fixture.rest.call('DELETE', path)).status, 204)
  for (const [method, rest] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['GET', '/versions'],
    ['GET', '/versions/1'],
    ['POST', '/preview'],
  ] as const)
    t.deepEqual(
      refusal(
        await fixture.rest.call(method, `${path}${rest}`, method === 'PUT' ? { subject_tmpl: 'x' } : method === 'POST' ? {} : undefined),
      ),
      none,
    )
  for await (const { key } of fixture.database.kv.range({
    start: pack([fixture.organizationId]),
    end: pack([`${fixture.organizationId}~`]),
  }))
    t.false(Buffer.from(key).includes('template'), 'no row is left in the store')
  t.is((await create(fixture))['current_version'], 1)
  await assertSound(t, fixture)
})

test('free plans have three templates', async (t) => {
  const fixture = await startFixture(t, { plan: 'free' })
  const made = await create(fixture, { slug: 'a' })
  for (const slug of ['b', 'c']) await create(fixture, { slug })
  const refused = await fixture.rest.call('POST', '/v1/templates', welcome)
  t.deepEqual(refusal(refused), [429, 'quota_exhausted', 'The plan free allows 3 templates; remove one, or raise the plan.'])
  t.is(errorOf(refused).next_action, 'upgrade')
  const path = `/v1/templates/${String(made['id'])}`
  t.is((await fixture.rest.must('PUT', path, { subject_tmpl: 'Second' }))['current_version'], 2, 'versions do not count')
  await fixture.rest.call('DELETE', path)
  await create(fixture)
  const pro = await fixture.addOrganization('pro')
  for (const slug of ['a', 'b', 'c', 'd']) await pro.rest.must('POST', '/v1/templates', { ...welcome, slug })
})

test('verify reports a missing version and an orphaned one', async (t) => {
  const fixture = await startFixture(t)
  const id = String((await create(fixture))['id'])
  const reach = { organizationId: fixture.organizationId }
  const stored = await fixture.database.get(templateVersions, reach, versionId(id, 1))
  const change = new Change().remove(templateVersions, fixture.organizationId, stored!)
  await fixture.database.commit(
    change.insert(templateVersions, fixture.organizationId, { ...stored!.record, id: versionId(id, 2), version: 2 }),
  )
  const problems = (await problemsOf(fixture)).join('\n')
  t.regex(problems, /its version 1 of 1 is missing/)
  t.true(problems.includes(`the template ${id} has no version 2`))
})
