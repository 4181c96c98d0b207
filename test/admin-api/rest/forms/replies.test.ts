/** Replies to submissions: rendered as drafts, and sent once. */
import test from '#test'
import { formReplies } from '#core/forms/replies/reply.ts'
import { traces } from '#core/trace/trace.ts'
import type { Write } from '#store/kv.ts'
import { unpack } from '#store/tuple.ts'
import { errorOf, refusal } from '../fixture/rest-fixture.ts'
import { formFixture, type FormFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>

const sender = 'shop@example.ch'

async function submitted({ send, path }: FormFixture, data: Row = { email: 'ada@example.ch', message: 'Hello.' }): Promise<string> {
  const { body } = await send(data)
  return `${path}/submissions/${String((body as Row)['id'])}`
}

const tracesOf = async ({ rest }: FormFixture): Promise<Row[]> => (await rest.must('GET', '/v1/traces'))['data'] as Row[]

test('a submission sends no mail by itself; a reply is a draft that is sent exactly once', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path } = fixture
  const one = await submitted(fixture)
  t.deepEqual(await tracesOf(fixture), [])
  const draft = await rest.call('POST', `${one}/reply-drafts`, { from: sender, subject: 'Your message', text: 'Thank you.' })
  t.is(draft.status, 201)
  t.like(draft.body, { to: 'ada@example.ch', trace_id: null, by_agent: false, template: null })
  const at = `${path}/reply-drafts/${String((draft.body as Row)['id'])}`
  t.like(await rest.must('GET', `${one}/replies`), { data: [{ status: 'draft', trace_status: null }] })
  t.like(await rest.must('PATCH', at, { text: 'Thank you, Ada.' }), { text: 'Thank you, Ada.', subject: 'Your message' })
  const answers = await Promise.all([1, 2, 3].map(() => rest.must('POST', `${at}/send`)))
  t.is(new Set(answers.map(({ trace_id }) => trace_id)).size, 1)
  t.is((await tracesOf(fixture)).length, 1)
  t.like(await tracesOf(fixture), [{ subject: 'Your message' }])
  t.like(await rest.must('GET', one), { status: 'replied' })
  t.like(await rest.must('GET', `${one}/replies`), { data: [{ trace_id: answers[0]?.['trace_id'], trace_status: 'captured' }] })
  t.is(refusal(await rest.call('PATCH', at, { text: 'x' }))[2], 'This reply was already sent. Create another reply.')
  t.is((await rest.call('DELETE', at)).status, 409)
  t.like(await rest.must('POST', `${at}/send`), { trace_id: answers[0]?.['trace_id'] })
  t.is((await tracesOf(fixture)).length, 1)
})

test("reply templates get the answers and the form's name, and name missing variables", async (t) => {
  const fixture = await formFixture(t)
  const { rest } = fixture
  const properties = { fields: { type: 'object' }, form: { type: 'object' }, signature: { type: 'string' } }
  const { id: template_id } = await rest.must('POST', '/v1/templates', {
    ...{ slug: 'reply', name: 'Reply', subject_tmpl: 'Re: {{.form.name}}', text_tmpl: '{{.fields.message}}\n\n{{.signature}}' },
    schema_json: { type: 'object', properties, required: ['fields', 'form', 'signature'], additionalProperties: false },
  })
  const one = await submitted(fixture)
  const missing = await rest.call('POST', `${one}/reply-drafts`, { template_id })
  t.like(errorOf(missing), { code: 'validation_failed', details: { fields: [{ path: 'template_vars.signature' }] } })
  const filledIn = { template_id, template_vars: { signature: 'Bea' } }
  t.deepEqual(await rest.must('POST', `${one}/reply-preview`, filledIn), {
    ...{ to: 'ada@example.ch', subject: 'Re: Contact', text: 'Hello.\n\nBea', html: null },
    filled: {
      subject: [{ start: 4, end: 11 }],
      text: [
        { start: 0, end: 6 },
        { start: 8, end: 11 },
      ],
    },
  })
  t.deepEqual((await rest.must('GET', `${one}/replies`))['data'], [], 'a preview makes no draft')
  t.is((await rest.call('POST', `${one}/reply-preview`, { template_id })).status, 400)
  const reply = await rest.must('POST', `${one}/reply-drafts`, filledIn)
  t.like(reply, { subject: 'Re: Contact', text: 'Hello.\n\nBea', template: { id: template_id, version: 1 } })
  t.is((await rest.call('POST', `${one}/reply-drafts`, { template_id, text: 'x' })).status, 400)
  t.like(errorOf(await rest.call('POST', `${one}/reply-drafts`, {})), { code: 'validation_failed' })
})

test("a reply belongs to its submission and goes only to the visitor's address", async (t) => {
  const fixture = await formFixture(t, { schema: { version: 1, fields: [{ key: 'email', type: 'email', label: 'Email' }] } })
  const { rest, path, addOrganization } = fixture
  const none = await submitted(fixture, {})
  t.is(refusal(await rest.call('POST', `${none}/reply-drafts`, { subject: 'x', text: 'x' }))[1], 'conflict')
  const one = await submitted(fixture, { email: 'ada@example.ch' })
  const draft = { from: sender, subject: 'x', text: 'x' }
  t.is((await rest.call('POST', `${one}/reply-drafts`, { ...draft, to: 'bea@example.ch' })).status, 400)
  const { id } = await rest.must('POST', `${one}/reply-drafts`, draft)
  const at = `${path}/reply-drafts/${String(id)}`
  t.is((await (await addOrganization()).rest.call('POST', `${at}/send`)).status, 404)
  const { id: other } = await rest.must('POST', '/v1/forms', { name: 'Other' })
  t.is((await rest.call('POST', `/v1/forms/${String(other)}/reply-drafts/${String(id)}/send`)).status, 404)
  await rest.must('DELETE', one)
  t.is((await rest.call('POST', `${at}/send`)).status, 404)
})

test('reply: message and status are one write; a later retry sends no second message', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, kv, clock, addProject } = fixture
  const one = await submitted(fixture)
  const { id } = await rest.must('POST', `${one}/reply-drafts`, { from: sender, subject: 'Your message', text: 'Thank you.' })
  const at = `${path}/reply-drafts/${String(id)}`
  const writes = (kind: string, { sets }: Write): boolean => sets.some(({ key }) => unpack(key)[1] === kind)
  kv.beforeWrite = (write) => {
    if (writes(formReplies.name, write) && !writes(traces.name, write)) throw new Error('the process ended before this')
  }
  await rest.call('POST', `${at}/send`)
  kv.beforeWrite = undefined
  t.like(await rest.must('GET', one), { status: 'replied' })
  clock.advance(25 * 3_600_000)
  await rest.must('PATCH', path, { project_id: await addProject() })
  await rest.must('POST', `${at}/send`)
  t.is((await tracesOf(fixture)).length, 1)
})
