/** Sends from a template, read from the inbox that captured them. */
import test from '#test'
import { errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const order = {
  slug: 'order',
  name: 'Order',
  subject_tmpl: 'Order {{.number}} for {{.name}}',
  text_tmpl: 'Dear {{.name}}\n{{range .items}}- {{.}}\n{{end}}',
  html_tmpl: '<p>Dear {{.name}}</p><ul>{{range .items}}<li>{{.}}</li>{{end}}</ul>',
  schema_json: {
    type: 'object',
    properties: { number: { type: 'integer' }, name: { type: 'string' }, items: { type: 'array', items: { type: 'string' } } },
    required: ['number', 'name'],
  },
}
const plain = { from: 'shop@example.ch', to: 'ada@example.ch' }
const template_vars = { number: 17, name: 'Ada <3', items: ['Pen', 'Ink & paper'] }

async function saved(fixture: Fixture, changes: object = {}): Promise<string> {
  return String((await fixture.rest.must('POST', '/v1/templates', { ...order, ...changes }))['id'])
}

/** Returns the captured message of a send. */
async function captured({ rest }: Fixture, body: object) {
  const { trace_id } = await rest.must('POST', '/v1/messages', { ...plain, ...body })
  const inboxes = (await rest.must('GET', '/v1/inboxes'))['data'] as { id: string }[]
  for (const { id } of inboxes) {
    const messages = (await rest.must('GET', `/v1/inboxes/${id}/messages`))['data'] as { id: string; trace_id: string }[]
    const found = messages.find((message) => message.trace_id === trace_id)
    if (found)
      return { trace_id: String(trace_id), ...(await rest.must('GET', `/v1/inboxes/${id}/messages/${found.id}`)) } as Record<
        string,
        unknown
      >
  }
  throw new Error('the send was not captured')
}

test('a send takes subject, text and HTML from its template', async (t) => {
  const fixture = await startFixture(t)
  const template_id = await saved(fixture)
  for (const named of [{ template_id }, { template_slug: 'order' }, { template_id, template_slug: null, template_version: 1 }]) {
    const read = await captured(fixture, { ...named, template_vars })
    t.is(read['subject'], 'Order 17 for Ada <3')
    t.is(String(read['text']).trimEnd(), 'Dear Ada <3\n- Pen\n- Ink & paper')
    t.is(read['html'], '<p>Dear Ada &lt;3</p><ul><li>Pen</li><li>Ink &amp; paper</li></ul>')
  }
})

test('a send uses the named version, and the current one by default', async (t) => {
  const fixture = await startFixture(t)
  const template_id = await saved(fixture)
  await fixture.rest.must('PUT', `/v1/templates/${template_id}`, { subject_tmpl: 'Second', text_tmpl: 'Two' })
  t.is((await captured(fixture, { template_id, template_version: 1, template_vars }))['subject'], 'Order 17 for Ada <3')
  const second = await captured(fixture, { template_id })
  t.is(second['subject'], 'Second')
  const none = await fixture.rest.call('POST', '/v1/messages', { ...plain, template_id, template_version: 3 })
  t.deepEqual(refusal(none), [400, 'validation_failed', 'template_version: there is no version 3; the template has versions 1 to 2'])
})

test('the trace names template and version, and keeps them when the template changes', async (t) => {
  const fixture = await startFixture(t)
  const template_id = await saved(fixture)
  const trace_id = String((await captured(fixture, { template_id, template_vars }))['trace_id'])
  await fixture.rest.call('DELETE', `/v1/templates/${template_id}`)
  const { timeline } = await fixture.rest.must('GET', `/v1/traces/${trace_id}`)
  const [accepted] = timeline as { message: string; detail: object }[]
  t.regex(accepted?.message ?? '', /for 1 recipient, from the template order in version 1\.$/)
  t.like(accepted?.detail, { template_id, template_version: 1 })
  const shared = (await fixture.rest.call('GET', `/share/traces/${trace_id}`)).bytes.toString('utf8')
  t.false(shared.includes('order') || shared.includes(template_id), 'the public view does not show it')
  const plainly = await captured(fixture, { text: 'x' })
  const [untold] = (await fixture.rest.must('GET', `/v1/traces/${String(plainly['trace_id'])}`))['timeline'] as { detail: object }[]
  t.false('template_id' in (untold?.detail ?? {}))
})

test("a subject of the request replaces the template's; text and HTML are refused", async (t) => {
  const fixture = await startFixture(t)
  const template_id = await saved(fixture)
  t.is((await captured(fixture, { template_id, template_vars, subject: 'Mine' }))['subject'], 'Mine')
  for (const field of ['text', 'html']) {
    const answer = await fixture.rest.call('POST', '/v1/messages', { ...plain, template_id, template_vars, [field]: 'x' })
    t.deepEqual(refusal(answer), [400, 'validation_failed', `${field}: comes from the template; leave it out, or send without a template`])
  }
  t.is((await captured(fixture, { template_id, template_vars, text: '', html: '', subject: '' }))['subject'], 'Order 17 for Ada <3')
})

test('variables cannot add a line to the header', async (t) => {
  const fixture = await startFixture(t)
  const template_id = await saved(fixture, { subject_tmpl: '{{.name}}' })
  const read = await captured(fixture, {
    template_id,
    template_vars: { ...template_vars, name: 'Hello\r\nBcc: eve@example.ch\r\n\r\nbody' },
  })
  t.is(read['subject'], 'Hello Bcc: eve@example.ch body')
  t.deepEqual(read['intended_to'], ['ada@example.ch'])
  t.false((read['headers'] as { name: string }[]).some(({ name }) => name.toLowerCase() === 'bcc'))
})

test('missing and invalid variables: the error names each, and nothing is stored', async (t) => {
  const fixture = await startFixture(t)
  const template_id = await saved(fixture)
  const wrong = async (body: object) => {
    const answer = await fixture.rest.call('POST', '/v1/messages', { ...plain, ...body })
    t.is(answer.status, 400)
    return ((errorOf(answer).details?.['fields'] ?? []) as { path: string; message: string }[]).map(
      ({ path, message }) => `${path}: ${message}`,
    )
  }
  t.deepEqual(await wrong({ template_id }), [
    'template_vars.number: is required by the template',
    'template_vars.name: is required by the template',
  ])
  t.deepEqual(await wrong({ template_id, template_vars: { ...template_vars, number: '17', items: [1] } }), [
    'template_vars.number: expected a whole number, got text',
    'template_vars.items[0]: expected text, got a number',
  ])
  const loose = await saved(fixture, { slug: 'loose', schema_json: null })
  t.deepEqual(await wrong({ template_id: loose, template_vars: { number: 1, name: 'A' } }), [
    'template_vars.items: is missing; text_tmpl uses it in line 2, column 9',
    'template_vars.items: is missing; html_tmpl uses it in line 1, column 34',
  ])
  t.deepEqual(await wrong({ template_id, template_vars: [] }), ['template_vars: expected an object, got a list'])
  t.deepEqual(await wrong({ template_id: 'order' }), ['template_id: no template of this project has this id'])
  t.deepEqual(await wrong({ template_slug: 'orders' }), ['template_slug: no template of this project has this slug'])
  t.deepEqual(await wrong({ template_id, template_slug: 'order' }), ['template_slug: replaces template_id; give only one of them'])
  t.deepEqual(await wrong({ text: 'x', template_vars: { a: 1 }, template_version: 1 }), [
    'template_version: requires a template; give template_id or template_slug too, or leave it out',
    'template_vars: requires a template; give template_id or template_slug too, or leave it out',
  ])
  const bare = await saved(fixture, { slug: 'bare', text_tmpl: null, html_tmpl: null })
  t.deepEqual(await wrong({ template_id: bare, template_vars }), [
    'text: the template has neither text nor HTML, and a message needs a body',
  ])
  t.deepEqual(await fixture.rest.must('GET', '/v1/traces?status=captured'), { data: [], next_cursor: null })
})

test('a template is available in its own project only', async (t) => {
  const fixture = await startFixture(t)
  const project_id = await fixture.addProject()
  const template_id = await saved(fixture)
  const send = (body: object) => fixture.rest.call('POST', '/v1/messages', { ...plain, template_vars, project_id, ...body })
  t.deepEqual(refusal(await send({ template_id })), [400, 'validation_failed', 'template_id: no template of this project has this id'])
  t.deepEqual(refusal(await send({ template_slug: 'order' })), [
    400,
    'validation_failed',
    'template_slug: no template of this project has this slug',
  ])
  const theirs = await saved(fixture, { project_id, subject_tmpl: 'Theirs' })
  t.is((await send({ template_id: theirs })).status, 200)
  const bound = await fixture.withKey(['api:send'], project_id)
  t.is((await bound.call('POST', '/v1/messages', { ...plain, template_slug: 'order', template_vars })).status, 200)
  t.is((await bound.call('POST', '/v1/messages', { ...plain, template_id, template_vars })).status, 400)
})

test('an idempotency key returns its trace, also after the template is deleted', async (t) => {
  const fixture = await startFixture(t)
  const template_id = await saved(fixture)
  const send = () => fixture.rest.call('POST', '/v1/messages', { ...plain, template_id, template_vars, idempotency_key: 'order 17' })
  const first = objectOf(await send())
  await fixture.rest.must('PUT', `/v1/templates/${template_id}`, { subject_tmpl: '{{.other}}', text_tmpl: 'x' })
  t.deepEqual((await send()).body, first)
  await fixture.rest.call('DELETE', `/v1/templates/${template_id}`)
  t.deepEqual((await send()).body, first)
  t.like(await fixture.rest.must('GET', '/v1/projects/me'), { sends_today: 1 })
})
