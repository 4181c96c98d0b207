/** Long calls and subscriptions, and records of calls: progress, cancellation, changed lists, usage and traces. */
import { EventEmitter, once } from 'node:events'
import test from '#test'
import { mcpResource, webClientId } from '../oauth/oauth-fixture.ts'
import { waiting } from '../../support/waits.ts'
import { startMcp, type McpFixture } from './mcp-fixture.ts'

const mail = { from: 'shop@example.ch', to: 'ada@example.org', subject: 'Hello', text: 'It works.' }

for (const era of ['legacy', 'modern'] as const)
  test(`${era}: a wait reports progress every ten seconds and ends with the message`, async (t) => {
    const fixture = await startMcp(t)
    const agent = await fixture.agent({ era })
    const reports = new EventEmitter()
    const params = { name: 'virtual_inbox_message_wait', arguments: { id_or_address: '*', timeout_seconds: 60 } }
    const answer = agent.client.callTool(params, { onprogress: ({ progress }) => void reports.emit('progress', progress) })
    await fixture.waits(fixture.projectId, 1)
    for (const seconds of [10, 20, 30]) {
      const report = once(reports, 'progress')
      fixture.clock.advance(10_000)
      t.deepEqual(await waiting('a report of progress', report), [seconds])
    }
    const sent = await agent.must('email_send_test', mail)
    t.like((await answer).structuredContent, { timeout: false, message: { trace_id: sent['trace_id'] } } as never)
  })

for (const era of ['legacy', 'modern'] as const)
  test(`${era}: canceling a wait ends only this wait, at once`, async (t) => {
    const fixture = await startMcp(t)
    const [agent, other] = [await fixture.agent({ era }), await fixture.agent({ era })]
    const wait = { name: 'virtual_inbox_message_wait', arguments: { id_or_address: '*', timeout_seconds: 60 } }
    const theirs = other.client.callTool(wait)
    const leaving = new AbortController()
    const mine = agent.client.callTool(wait, { signal: leaving.signal })
    await fixture.waits(fixture.projectId, 2)
    leaving.abort()
    await t.throwsAsync(mine)
    await fixture.waits(fixture.projectId, 1)
    const sent = await agent.must('email_send_test', mail)
    t.like((await theirs).structuredContent, { timeout: false, message: { trace_id: sent['trace_id'] } } as never)
    const outcomes = fixture.daemon.log.filter(({ tool }) => tool === wait.name).map(({ outcome }) => outcome)
    t.deepEqual(outcomes, ['canceled', 'ok'])
    t.deepEqual(fixture.failures, [])
  })

for (const era of ['legacy', 'modern'] as const)
  test(`${era}: a wait is refused if its grant is revoked during it`, async (t) => {
    const fixture = await startMcp(t)
    const tokens = await fixture.signIn({ resource: mcpResource, scope: 'mcp:read' })
    const agent = await fixture.agent({ era, token: String(tokens['access_token']) })
    const refusal = agent.refused('virtual_inbox_message_wait', { id_or_address: '*', timeout_seconds: 60 })
    await fixture.waits(fixture.projectId, 1)
    fixture.clock.advance(1001)
    const revoked = await fixture.post('/oauth/revoke', { token: String(tokens['refresh_token']), client_id: webClientId })
    t.is(revoked.status, 200)
    await fixture.rest.must('POST', '/v1/messages', mail)
    t.like(await refusal, { code: 'unauthorized' })
    const outcomes = fixture.daemon.log.filter(({ msg }) => msg === 'tool call').map(({ outcome }) => outcome)
    t.deepEqual(outcomes, ['unauthorized'])
  })

test('waits: end at once when the client disconnects', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent({ era: 'legacy' })
  const params = { name: 'virtual_inbox_message_wait', arguments: { id_or_address: '*' } }
  const answer = agent.client.callTool(params)
  await fixture.waits(fixture.projectId, 1)
  await agent.client.close()
  await t.throwsAsync(answer)
  await fixture.waits(fixture.projectId, 0)
  t.pass()
})

test('waits: share the limit of REST, 20 for a token, and the count of the project', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent()
  const wait = (): ReturnType<typeof agent.call> => agent.call('virtual_inbox_message_wait', { id_or_address: '*', timeout_seconds: 60 })
  const mine = Array.from({ length: 20 }, wait)
  await fixture.waits(fixture.projectId, 20)
  const { code, message } = await agent.refused('virtual_inbox_message_wait', { id_or_address: '*' })
  t.deepEqual([code, message], ['rate_limit_exceeded', 'At most 20 waits per key and 200 per project can be open at a time.'])
  const { data } = (await fixture.rest.must('GET', '/v1/inboxes')) as { data: { id: string; project_id: string }[] }
  const inbox = data.find((one) => one.project_id === fixture.projectId)
  const byRest = fixture.rest.must('POST', `/v1/inboxes/${inbox?.id ?? ''}/wait?timeout=60`)
  await fixture.waits(fixture.projectId, 21)
  fixture.clock.advance(60_000)
  for (const { value } of await Promise.all(mine)) t.deepEqual(value, { timeout: true })
  t.like(await byRest, { timeout: true })
  t.is(fixture.captureEvents.waiting(fixture.projectId), 0)
})

/** Yields the messages of a subscription. */
async function listen(fixture: McpFixture, token: string): Promise<AsyncGenerator<{ readonly method?: string; readonly params?: object }>> {
  return messagesOf(await subscribe(fixture, token))
}

function subscribe(fixture: McpFixture, token: string, notifications: unknown = { toolsListChanged: true }): Promise<Response> {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
  const params = { _meta: meta, notifications }
  return fixture.fetch(mcpResource, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${token}` },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params }),
  })
}

test('subscriptions: a refused or ended one frees its place', async (t) => {
  const fixture = await startMcp(t)
  const token = await fixture.tokenOf()
  for (const notifications of [null, 5, { toolsListChanged: 5 }, {}, { resourceSubscriptions: [] }])
    for (let i = 0; i < 10; i++) {
      const answer = await subscribe(fixture, token, notifications)
      await answer.text()
      t.not(answer.status, 429, JSON.stringify(notifications))
    }
  const open = await Promise.all(Array.from({ length: 10 }, () => listen(fixture, token)))
  for (const messages of open) t.is((await messages.next()).value?.method, 'notifications/subscriptions/acknowledged')
  t.is((await subscribe(fixture, token)).status, 429)
  fixture.clock.advance(120_000)
  for (const messages of open) t.true((await messages.next()).done)
})

async function* messagesOf({ body }: Response): AsyncGenerator<{ readonly method?: string }> {
  let text = ''
  for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += piece
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data !== undefined) yield JSON.parse(data) as { method?: string }
    }
  }
}

test('subscriptions: the eleventh of a token gets 429; another token can subscribe', async (t) => {
  const fixture = await startMcp(t)
  const [token, other] = [await fixture.tokenOf(), await fixture.tokenOf()]
  const open = await Promise.all(Array.from({ length: 10 }, () => listen(fixture, token)))
  for (const messages of open) await messages.next()
  const refused = await subscribe(fixture, token)
  t.is(refused.status, 429)
  t.is(refused.headers.get('retry-after'), '30')
  const { error } = (await refused.json()) as { readonly error: { readonly message: string } }
  t.is(error.message, 'At most 10 subscriptions can be open at a time; close one, or poll instead.')
  await (await listen(fixture, other)).next()
  fixture.clock.advance(120_000)
  for (const messages of open) t.true((await messages.next()).done)
  await (await listen(fixture, token)).next()
})

test('subscriptions: report changes of the own tool list only', async (t) => {
  const fixture = await startMcp(t)
  const other = await fixture.addOrganization()
  const token = await fixture.tokenOf()
  const look = async (): Promise<void> => {
    fixture.clock.advance(5000)
    await fixture.daemon.settled()
  }
  const changes: readonly (() => Promise<unknown>)[] = [
    () => fixture.operator.must('PUT', `/operator/v1/organizations/${fixture.organizationId}/flags`, { webhooks: false }),
    () => fixture.operator.must('PUT', `/operator/v1/organizations/${fixture.organizationId}/plan`, { plan: 'free' }),
    () => fixture.setRole('viewer'),
  ]
  for (const [i, change] of changes.entries()) {
    const messages = await listen(fixture, token)
    const next = async (): Promise<unknown> => (await waiting('the next message', messages.next())).value?.method
    t.is(await next(), 'notifications/subscriptions/acknowledged')
    await fixture.daemon.settled()
    await fixture.operator.must('PUT', `/operator/v1/organizations/${other.organizationId}/flags`, { templates: i % 2 === 1 })
    for (let n = 0; n < 3; n++) await look()
    await change()
    await look()
    t.is(await next(), 'notifications/tools/list_changed')
    fixture.clock.advance(120_000) // a connection lasts two minutes
    t.is(await next(), undefined, 'changes of others are not announced')
  }
  t.deepEqual(fixture.failures, [])
})

test('subscriptions: the older era does not announce changed lists', async (t) => {
  const fixture = await startMcp(t)
  t.true((await fixture.agent({ era: 'modern' })).client.getServerCapabilities()?.tools?.listChanged)
  t.falsy((await fixture.agent({ era: 'legacy' })).client.getServerCapabilities()?.tools?.listChanged)
})

test('usage: calls are counted but not billed', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent()
  await agent.must('account_status')
  await agent.refused('email_provider_health', { destination_id: 'dst_1' })
  await fixture.daemon.pass(1000)
  const usage = (await fixture.rest.must('GET', '/v1/usage')) as { agent_calls: number; axes: { axis: string }[] }
  t.is(usage.agent_calls, 2)
  t.false(usage.axes.some(({ axis }) => axis.includes('agent')))
})

test('trace: names the agent that sent the message', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent()
  const { trace_id: traceId } = await agent.must('email_send_test', mail)
  t.like(await fixture.rest.must('GET', `/v1/traces/${String(traceId)}`), { door: 'mcp' })
  const { body } = await fixture.rest.call('GET', `/v1/traces/${String(traceId)}`)
  t.regex(JSON.stringify(body), /an agent/)
})
