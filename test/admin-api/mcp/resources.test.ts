/** The specified resources, templates and completions, read by the SDK client in both eras. */
import { readFileSync } from 'node:fs'
import test from '#test'
import { addDestination } from '../rest/fixture/rest-fixture.ts'
import { startMcp, type Agent, type Era } from './mcp-fixture.ts'
import { makeForTools } from './walks/tool-requests.ts'

const topics = ['send', 'sandbox', 'routing', 'domains', 'webhooks', 'forms', 'publishable-keys', 'smtp', 'bounces', 'claims', 'vendors']
const fixed = ['project://current', 'email://destinations', 'email://policies/failover', 'email://policies/routing']
const templates = [
  ...['email://destinations/{id}/health', 'email://destinations/{id}/recent_traces', 'email://traces/{message_id}'],
  ...['email://templates/{id}', 'docs://guide/{topic}'],
]

async function read({ client }: Agent, uri: string): Promise<{ readonly mimeType?: string | undefined; readonly text: string }> {
  const { contents } = await client.readResource({ uri })
  const [first] = contents
  if (contents.length !== 1 || !first || !('text' in first)) throw new Error('one text was expected')
  return first
}

const json = async (agent: Agent, uri: string) => JSON.parse((await read(agent, uri)).text) as Record<string, unknown>

for (const era of ['legacy', 'modern'] as const satisfies readonly Era[])
  test(`${era}: lists and reads the specified resources`, async (t) => {
    const fixture = await startMcp(t)
    const made = await makeForTools(fixture)
    const agent = await fixture.agent({ era })
    const { resources } = await agent.client.listResources()
    t.deepEqual(
      resources.map(({ uri }) => uri),
      [...fixed, ...topics.map((topic) => `docs://guide/${topic}`)],
    )
    for (const { name, title, description, mimeType, annotations } of resources) {
      t.true([name, title, description].every((text) => text !== undefined && text !== ''))
      t.regex(mimeType ?? '', /^(?:application\/json|text\/markdown)$/)
      t.is(typeof annotations?.priority, 'number')
    }
    const { resourceTemplates } = await agent.client.listResourceTemplates()
    t.deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      templates,
    )
    t.like(await json(agent, 'project://current'), { project_id: fixture.projectId, status: 'claimed' })
    const { data } = await json(agent, 'email://destinations')
    t.true((data as { id: string }[]).some(({ id }) => id === made.destination))
    t.like(await json(agent, `email://destinations/${made.destination}/health`), { destination_id: made.destination })
    const recent = (await json(agent, `email://destinations/${made.destination}/recent_traces`))['data'] as { destination_id: string }[]
    t.true(recent.length > 0 && recent.every(({ destination_id: id }) => id === made.destination))
    t.like(await json(agent, `email://traces/${made.trace}`), { found: true, trace: { trace_id: made.trace } })
    const { trace } = (await json(agent, `email://traces/${made.trace}`)) as { trace: { untrusted_message_id: string } }
    const byMessageId = await json(agent, `email://traces/${encodeURIComponent(`<${trace.untrusted_message_id}>`)}`)
    t.like(byMessageId, { found: true, trace: { trace_id: made.trace } })
    t.like(await json(agent, `email://templates/${made.template}`), { id: made.template, slug: 'welcome' })
    t.like(await json(agent, 'email://policies/failover'), { data: [{ primary_id: made.spare }], has_more: false })
    t.like(await json(agent, 'email://policies/routing'), { data: [{ id: made.rule }] })
    t.deepEqual(await read(agent, 'docs://guide/smtp'), {
      uri: 'docs://guide/smtp',
      mimeType: 'text/markdown',
      text: readFileSync(new URL('../../../admin-api/docs/smtp.md', import.meta.url), 'utf8'),
    } as never)
  })

test('guides: each is a chapter of the documentation', async (t) => {
  const agent = await (await startMcp(t)).agent()
  for (const topic of topics) t.regex((await read(agent, `docs://guide/${topic}`)).text, /^# /)
  const { text } = await read(agent, 'docs://guide/vendors')
  t.true(text.includes('`/emails/batch`') && text.includes('RESEND_BASE_URL'), 'whose clients work here, and how they are set')
})

test('resources: unknown addresses, foreign ids and path traversal get not found', async (t) => {
  const fixture = await startMcp(t)
  const made = await makeForTools(fixture)
  const agent = await fixture.agent({ token: await fixture.anonymousToken() })
  const theirs = [`destinations/${made.destination}/health`, `destinations/${made.destination}/recent_traces`, `traces/${made.trace}`]
  const uris = [
    ...[...theirs, `templates/${made.template}`].map((path) => `email://${path}`),
    ...['docs://guide/', 'docs://guide/nothing', 'docs://guide/../../README', 'docs://guide/__proto__', 'docs://guide/constructor'],
    ...['project://other', 'email://destinations/', 'email://templates/%', 'email://templates/..%2F..', 'file:///etc/passwd', '', 'x'],
    ...['email://destinations/%00/health', `email://traces/${'a'.repeat(2000)}`, 'http://127.0.0.1/'],
  ]
  for (const uri of uris) {
    const error = await t.throwsAsync(read(agent, uri), undefined, uri.slice(0, 80))
    t.is((error as Error & { readonly code?: number }).code, -32_602, uri.slice(0, 80))
    t.true((error?.message.length ?? 0) < 300)
  }
  t.deepEqual(fixture.failures, [])
})

test('completion: names to ids, and topics', async (t) => {
  const fixture = await startMcp(t)
  const made = await makeForTools(fixture)
  const named = await addDestination(fixture.rest, { name: 'Webhoster Zurich' })
  const agent = await fixture.agent()
  const complete = async (uri: string, name: string, value: string) =>
    (await agent.client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values
  t.deepEqual(await complete('email://destinations/{id}/health', 'id', 'zur'), [named])
  t.deepEqual(await complete('email://destinations/{id}/recent_traces', 'id', named.slice(0, -1)), [named])
  t.deepEqual(await complete('email://templates/{id}', 'id', 'welc'), [made.template])
  t.deepEqual(
    await complete('docs://guide/{topic}', 'topic', 's'),
    ['send', 'sandbox', 'routing', 'domains', 'webhooks', 'forms', 'publishable-keys', 'smtp', 'bounces', 'claims', 'vendors'].filter(
      (topic) => topic.includes('s'),
    ),
  )
  t.deepEqual(await complete('email://traces/{message_id}', 'message_id', made.trace.slice(0, 8)), [made.trace])
  t.deepEqual(await complete('email://nothing/{id}', 'id', ''), [])
  t.deepEqual(await complete('docs://guide/{topic}', 'constructor', ''), [])
  const prompted = await agent.client.complete({
    ref: { type: 'ref/prompt', name: 'migrate_provider' },
    argument: { name: 'to', value: 'infom' },
  })
  t.deepEqual(prompted.completion.values, ['infomaniak'])
  const anonymous = await fixture.agent({ token: await fixture.anonymousToken() })
  const none = await anonymous.client.complete({
    ref: { type: 'ref/resource', uri: 'email://destinations/{id}/health' },
    argument: { name: 'id', value: '' },
  })
  t.deepEqual(none.completion.values, [], 'nothing of others')
})

test('resources: one with a disabled flag is not listed and is refused', async (t) => {
  const fixture = await startMcp(t)
  const made = await makeForTools(fixture)
  await fixture.operator.must('PUT', `/operator/v1/organizations/${fixture.organizationId}/flags`, { templates: false })
  const agent = await fixture.agent({ era: 'legacy' })
  const { resourceTemplates } = await agent.client.listResourceTemplates()
  t.false(resourceTemplates.some(({ uriTemplate }) => uriTemplate.includes('templates/{id}')))
  const error = await t.throwsAsync(read(agent, `email://templates/${made.template}`))
  t.like(error, { code: -32_602, data: { error: { code: 'feature_disabled' } } } as never)
})

test('links: a send links its trace, and a prompt contains its chapter', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent()
  const given = { from: 'a@example.ch', to: 'b@example.ch', subject: 'x', text: 'x' }
  const { content, structuredContent } = await agent.client.callTool({ name: 'email_send_test', arguments: given })
  const link = (content as { type: string; uri?: string }[]).find(({ type }) => type === 'resource_link')
  const { trace_id: traceId } = structuredContent as { trace_id: string }
  t.is(link?.uri, `email://traces/${traceId}`)
  t.like(await json(agent, link?.uri ?? ''), { found: true })
  const { messages } = await agent.client.getPrompt({ name: 'score_my_email' })
  t.like(messages[1]?.content, { type: 'resource', resource: { uri: 'docs://guide/send', mimeType: 'text/markdown' } })
})
