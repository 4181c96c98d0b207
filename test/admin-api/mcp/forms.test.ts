/** Agents and forms: agents design and publish forms, and reply to a submission once, with the approval that the project requires. */
import test from '#test'
import { startApproval, type ApprovalFixture, type Held } from './approval/approval-fixture.ts'
import { assertSound } from '../../support/problems.ts'
import { startMcp, type Agent, type McpFixture } from './mcp-fixture.ts'

type Row = Readonly<Record<string, unknown>>

const visitor = 'visitor@example.net'
const fields = [
  { key: 'email', type: 'email', label: 'Email', required: true },
  { key: 'topic', type: 'select', label: 'Topic', options: ['bug', 'other'].map((value) => ({ value, label: value })) },
  { key: 'steps', type: 'textarea', label: 'Steps' },
]

/** Submits a form as a visitor. Returns the id of the submission. */
async function submitted({ rest, clock }: McpFixture, publicId: string, data: Row): Promise<string> {
  const { fill_time_token: _mnx_ft } = await rest.must('GET', `/v1/public/forms/${publicId}`)
  clock.advance(5000)
  return String((await rest.must('POST', `/v1/public/forms/${publicId}/submissions`, { data, _mnx_ft }))['id'])
}

test('forms: an agent creates, lists and publishes a form once for each version', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent()
  const made = await agent.must('form_create', {
    ...{ name: 'Bugs', fields, layout: { rows: [{ fields: ['email', 'topic'], spans: [8, 4] }] } },
    ...{ theme: { mode: 'dark' }, thank_you: { title: 'Noted' }, captcha: { provider: 'turnstile', site_key: 'k' } },
    logic: { rules: [{ id: 'r', when: { field: 'topic', op: 'eq', value: 'bug' }, then: [{ action: 'show', target: 'steps' }] }] },
  })
  t.like(made, { name: 'Bugs', status: 'draft', version: 0 })
  const form_id = String(made['id'])
  const { definition } = await fixture.rest.must('GET', `/v1/forms/${form_id}/draft`)
  t.like(definition, {
    schema: { version: 1, fields, layout: { version: 1, rows: [{ fields: ['email', 'topic'], spans: [8, 4] }] } },
    ...{ theme: { mode: 'dark' }, thank_you: { title: 'Noted' }, settings: { captcha: { provider: 'turnstile', site_key: 'k' } } },
  })
  const plain = await agent.must('form_create', { name: 'Write to us' })
  const { definition: contact } = await fixture.rest.must('GET', `/v1/forms/${String(plain['id'])}/draft`)
  t.like(contact, { name: 'Write to us', schema: { fields: [{ key: 'intro' }, { key: 'name' }, { key: 'email' }, { key: 'message' }] } })
  const wrong = await agent.refused('form_create', { name: 'x', fields: [{ key: 'a', type: 'nothing', label: 'A' }] })
  t.is(wrong.code, 'definition_invalid')
  t.regex(JSON.stringify(wrong.details), /schema\.fields\[0\]\.type/)
  const publish = () => agent.must('form_publish', { form_id: String(plain['id']), note: 'first' })
  t.like(await publish(), { status: 'published', version: 1 })
  t.like(await publish(), { status: 'published', version: 1 })
  t.like(await agent.must('form_list', { status: 'published' }), {
    ...{ data: [{ id: plain['id'], version: 1, submissions_new: 0 }], has_more: false },
  })
})

interface ReplyFixture extends ApprovalFixture {
  readonly writer: Agent
  readonly draftId: string
  /** Path of the submission in the REST API. */
  readonly path: string
  /** Returns the current draft and submission. */
  state(): Promise<readonly [draft: unknown, submission: unknown]>
}

/** Creates an agent's draft in a project that requires approval, with a live destination. */
async function startReply(t: Parameters<typeof startApproval>[0]): Promise<ReplyFixture> {
  const fixture = await startApproval(t)
  const { rest, destinationId } = fixture
  await rest.must('PATCH', `/v1/destinations/${destinationId}`, { from: 'shop@example.ch' })
  await rest.must('POST', '/v1/routing/rules', { match: { any: true }, destination_id: destinationId, priority: 1 })
  const agent = await fixture.agent({ era: 'legacy' })
  const { id: form_id, public_id } = await agent.must('form_create', { name: 'Contact', fields })
  await agent.must('form_publish', { form_id: String(form_id) })
  const submission_id = await submitted(fixture, String(public_id), { email: visitor })
  const draft = await agent.must('form_reply_draft_create', { submission_id, subject: 'Your question', text: 'Thank you.' })
  t.like(draft, { form_id, submission_id, status: 'draft', by_agent: true, untrusted_to: visitor })
  const path = `/v1/forms/${String(form_id)}/submissions/${submission_id}`
  return {
    ...fixture,
    ...{ writer: agent, draftId: String(draft['id']), path },
    async state() {
      const { data } = await rest.must('GET', `${path}/replies`)
      return [(data as Row[])[0]?.['status'], (await rest.must('GET', path))['status']]
    },
  }
}

const send = async ({ writer, draftId }: ReplyFixture): Promise<Held> =>
  (await writer.must('form_reply_send', { draft_id: draftId })) as unknown as Held

test('replies: need approval; can be sent again after a refusal; are sent once', async (t) => {
  const fixture = await startReply(t)
  const { rest, path, draftId, transport } = fixture
  const held = await send(fixture)
  t.like(held, { status: 'awaiting_approval', outcome: 'relayed' })
  t.deepEqual(await fixture.state(), ['awaiting_approval', 'new'])
  t.is((await send(fixture)).trace_id, held.trace_id, 'a repeated call leaves it pending')
  const at = `${path.split('/submissions/')[0]}/reply-drafts/${draftId}`
  for (const answer of [await rest.call('PATCH', at, { text: 'x' }), await rest.call('DELETE', at)]) t.is(answer.status, 409)
  t.like(await rest.must('POST', `${at}/send`), { trace_id: held.trace_id, status: 'awaiting_approval' })

  const olga = await fixture.member('olga@example.ch')
  t.is(await fixture.decide(olga, held, 'refuse'), 303)
  t.deepEqual(await fixture.state(), ['draft', 'new'])
  await rest.must('PATCH', at, { text: 'Thank you very much.' })
  const second = await send(fixture)
  t.not(second.trace_id, held.trace_id)
  t.is(await fixture.decide(olga, second, 'approve'), 303)
  await fixture.daemon.settled()
  t.deepEqual(await fixture.state(), ['sent', 'replied'])
  t.deepEqual(transport.attempted, [[visitor]])
  t.is((await send(fixture)).trace_id, second.trace_id)
  fixture.clock.advance(25 * 3_600_000)
  t.like(await rest.must('POST', `${at}/send`), { trace_id: second.trace_id })
  await fixture.daemon.settled()
  t.deepEqual(transport.attempted, [[visitor]])
  await assertSound(t, fixture)
})

test('replies: become a draft again after the approval timeout', async (t) => {
  const fixture = await startReply(t)
  const held = await send(fixture)
  fixture.clock.advance(31 * 60_000)
  await fixture.daemon.settled()
  t.like(await fixture.traceOf(held), { status: 'canceled' })
  t.deepEqual(await fixture.state(), ['draft', 'new'])
  t.not((await send(fixture)).trace_id, held.trace_id)
  t.deepEqual(await fixture.state(), ['awaiting_approval', 'new'])
  t.deepEqual(fixture.transport.attempted, [])
})

test('replies: go only to the visitor, one at a time; visitor text is labelled', async (t) => {
  const fixture = await startReply(t)
  const { writer: agent, rest, path } = fixture
  const submission_id = path.split('/').at(-1)
  const schema_json = { type: 'object', properties: { fields: { type: 'object' }, form: { type: 'object' } } }
  const { id: template_id } = await rest.must('POST', '/v1/templates', {
    ...{ slug: 'reply', name: 'Reply', subject_tmpl: '{{.form.name}}', text_tmpl: 'You wrote from {{.fields.email}}' },
    schema_json,
  })
  const draft = await agent.must('form_reply_draft_create', { submission_id, template_id })
  t.like(draft, { untrusted_subject: 'Contact', untrusted_text: `You wrote from ${visitor}`, untrusted_to: visitor })
  for (const field of ['to', 'subject', 'text', 'html']) t.false(field in draft, field)
  for (const more of [{ to: 'bea@example.org' }, { cc: 'bea@example.org' }, { from: 'bea@example.org' }])
    t.is((await agent.refused('form_reply_draft_create', { submission_id, subject: 'x', text: 'x', ...more })).code, 'validation_failed')
  t.is((await agent.refused('form_reply_send', { draft_id: [draft['id']] })).code, 'validation_failed')
  t.is((await agent.refused('form_reply_draft_create', { submission_id: 'sub_1', subject: 'x', text: 'x' })).code, 'not_found')
  t.is((await agent.refused('form_reply_send', { draft_id: 'frd_1' })).code, 'not_found')
})

const x = 'x'.repeat(3999)
/** Text of a visitor, and the text for the agent: at most 4,000 visible characters. */
const written: Readonly<Record<string, readonly [given: string, shown: string, removed?: Row]>> = {
  'of the maximum length': [`${x}y`, `${x}y`],
  'one character longer': [`${x}yz`, `${x}y … (1 more characters)`],
  'cut within a character': [`${x}🐦`, `${x}\uFFFD … (1 more characters)`],
  'too long with its invisible characters': [`\u200B${x}\u202E\u202Ay`, `${x}y`, { zero_width: 1, bidi: 2 }],
}

test('foreign text: agents get 4,000 visible characters and the count of the rest', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent()
  const { id: form_id, public_id } = await agent.must('form_create', { name: 'Contact', fields })
  await agent.must('form_publish', { form_id: String(form_id) })
  const schema_json = { type: 'object', properties: { fields: { type: 'object' }, form: { type: 'object' } } }
  const template = { slug: 'reply', name: 'Reply', subject_tmpl: 'Re', text_tmpl: '{{.fields.steps}}', schema_json }
  const { id: template_id } = await fixture.rest.must('POST', '/v1/templates', template)
  for (const [what, [steps, shown, removed]] of Object.entries(written)) {
    const submission_id = await submitted(fixture, String(public_id), { email: visitor, steps })
    const draft = await agent.must('form_reply_draft_create', { submission_id, template_id })
    t.is(draft['untrusted_text'], shown, what)
    t.deepEqual(draft['untrusted_removed'], removed, what)
  }
})
