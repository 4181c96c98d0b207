/** Checks of templates, and test sends that are always captured. */
import test from '#test'
import { addDestination, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const check = (fixture: Fixture, body: object) => fixture.rest.must('POST', '/v1/templates/check', body)

test('checkTemplate returns problems with their place, warnings, the variables and a preview', async (t) => {
  const fixture = await startFixture(t)
  const schema_json = { type: 'object', properties: { name: { type: 'string' }, unused: { type: 'string' } }, required: ['name'] }
  const html_tmpl = '<p>{{.name}}</p>\n<img src="cid:logo">'
  t.deepEqual(await check(fixture, { subject_tmpl: 'Hello {{.name}}', html_tmpl, schema_json, variables: { name: '<Ada>' } }), {
    problems: [],
    warnings: [
      { code: 'text_missing', path: 'text_tmpl', message: 'has no text part; some programs and filters want one' },
      { code: 'variable_unused', path: 'schema_json', message: 'unused is declared and not used' },
      {
        ...{ code: 'image_without_alt', path: 'html_tmpl', message: 'an image has no alt text; give alt="" where it only decorates' },
        ...{ line: 2, column: 1 },
      },
    ],
    variables: ['name'],
    preview: { subject: 'Hello <Ada>', text: null, html: '<p>&lt;Ada&gt;</p>\n<img src="cid:logo">' },
  })
  const missing = await check(fixture, { subject_tmpl: 'Hello {{.name}}', text_tmpl: 'x', schema_json })
  t.deepEqual([missing['problems'], missing['preview']], [[{ path: 'variables.name', message: 'is required by the template' }], null])
  const broken = await check(fixture, { subject_tmpl: 'x', text_tmpl: 'one\n{{if .a}}two' })
  t.like((broken['problems'] as object[])[0], { path: 'text_tmpl', line: 2 })
  t.is(broken['preview'], null)
  const loop = '{{range .items}}{{.title}}{{$.shop}}{{end}}{{if .vip}}x{{end}}'
  t.deepEqual((await check(fixture, { subject_tmpl: '', text_tmpl: loop, variables: { items: [] } }))['variables'], [
    'items',
    'shop',
    'vip',
  ])
})

test("checkTemplate warns of long subjects and HTML above Gmail's limit, stores nothing", async (t) => {
  const fixture = await startFixture(t)
  const found = await check(fixture, { subject_tmpl: 's'.repeat(79), text_tmpl: 'x', html_tmpl: 'ä'.repeat(60_000) })
  t.deepEqual(
    (found['warnings'] as { code: string }[]).map(({ code }) => code),
    ['subject_long', 'html_large'],
  )
  t.deepEqual((await fixture.rest.must('GET', '/v1/templates'))['data'], [])
})

test('a template test is captured although its destination is live, and names missing values', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  await addDestination(rest, {}, true)
  const { id } = await rest.must('POST', '/v1/templates', { slug: 'hello', name: 'Hello', subject_tmpl: 'Hi {{.name}}', text_tmpl: 'x' })
  const path = `/v1/templates/${String(id)}/test`
  const sent = await rest.must('POST', path, { from: 'shop@example.ch', to: 'ada@example.ch', variables: { name: 'Ada' } })
  t.regex(String(sent['outcome']), /^captured\./)
  const trace = await rest.must('GET', `/v1/traces/${String(sent['trace_id'])}`)
  t.like(trace, { subject: 'Hi Ada', status: 'captured' })
  t.regex(JSON.stringify(trace), /this is a test of a template/)
  t.deepEqual(refusal(await rest.call('POST', path, { from: 'shop@example.ch', to: 'ada@example.ch' })), [
    400,
    'validation_failed',
    'template_vars.name: is missing; subject_tmpl uses it in line 1, column 6',
  ])
})

test('listTemplates finds parts of slugs and names', async (t) => {
  const { rest } = await startFixture(t)
  for (const [slug, name] of [
    ['order-sent', 'Order sent'],
    ['welcome', 'Welcome, ORDER on'],
    ['reset', 'Reset'],
  ])
    await rest.must('POST', '/v1/templates', { slug, name, subject_tmpl: 'x' })
  const found = async (q: string) =>
    ((await rest.must('GET', `/v1/templates?q=${q}`))['data'] as { slug: string }[]).map(({ slug }) => slug)
  t.deepEqual(await found('order'), ['welcome', 'order-sent'])
  t.deepEqual(await found('RESET'), ['reset'])
  t.deepEqual(await found('none'), [])
})
