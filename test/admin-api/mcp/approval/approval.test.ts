/** Mail of agents to real recipients is sent only after a user has approved exactly this message, and only once. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test, { type ExecutionContext } from '#test'
import { addDestination, errorOf } from '../../rest/fixture/rest-fixture.ts'
import { mcpResource } from '../../oauth/oauth-fixture.ts'
import { FakeClock, startOfTime } from '../../../support/fake-clock.ts'
import { assertSound } from '../../../support/problems.ts'
import { mail, pathOf, startApproval, type ApprovalFixture, type Held } from './approval-fixture.ts'

/** An agent whose client opens pages for its user; `visit` acts as the user. */
async function withPages(t: ExecutionContext, fixture: ApprovalFixture, visit: (url: string) => Promise<'accept' | 'decline' | 'cancel'>) {
  const token = await fixture.tokenOf()
  const transport = new StreamableHTTPClientTransport(new URL(mcpResource), {
    fetch: (url, init) => fixture.fetch(url, init),
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  const capabilities = { elicitation: { url: {} } }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities })
  client.setRequestHandler('elicitation/create', async ({ params }) => ({ action: await visit((params as { url: string }).url) }))
  await client.connect(transport)
  t.teardown(() => client.close())
  return client
}

const send = (fixture: ApprovalFixture) => ({ name: 'email_send_test', arguments: { ...mail, destination_id: fixture.destinationId } })

test('approval: a call requests it, continues after it, and the trace names the user', async (t) => {
  const fixture = await startApproval(t)
  const olga = await fixture.member('olga@example.ch')
  const seen: string[] = []
  const client = await withPages(t, fixture, async (url) => {
    const { html } = await olga.get(new URL(url).pathname)
    seen.push(html)
    t.deepEqual(fixture.transport.attempted, [], 'nothing has left')
    await olga.post(`${new URL(url).pathname}/approve`, {
      csrf: /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? '',
      digest: /name="digest" value="([^"]+)"/.exec(html)?.[1] ?? '',
    })
    return 'accept'
  })
  const { structuredContent, isError } = await client.callTool(send(fixture))
  t.falsy(isError, JSON.stringify(structuredContent))
  t.is(seen.length, 1)
  const { trace_id: traceId, ...rest } = structuredContent as Readonly<Record<string, unknown>>
  t.deepEqual(rest, { outcome: 'relayed' })
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [['ada@example.org']])
  const { timeline } = await fixture.traceOf({ trace_id: String(traceId) })
  t.regex(timeline.find(({ event }) => event === 'approved')?.message ?? '', /^Approved by olga@example\.ch \(usr_/)
  await assertSound(t, fixture)
})

test('approval: viewing changes nothing; declining in the client withdraws the message', async (t) => {
  const fixture = await startApproval(t, { clock: new FakeClock(startOfTime, 1000) })
  const patient = await withPages(t, fixture, async () => 'accept')
  const waiting = await patient.callTool(send(fixture))
  t.like(waiting.structuredContent, { status: 'awaiting_approval', outcome: 'relayed' } as never)
  const declining = await withPages(t, fixture, async () => 'decline')
  const declined = await declining.callTool(send(fixture))
  t.true(declined.isError)
  t.like(declined.structuredContent, { error: { code: 'conflict', next_action: 'send_again' } } as never)
  t.deepEqual(fixture.transport.attempted, [])
  await assertSound(t, fixture)
})

test('approval: a repeated call with other arguments is another message', async (t) => {
  const fixture = await startApproval(t)
  const token = await fixture.tokenOf()
  const held = await fixture.hold({}, token)
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
  const again = async (bearer: string, changes: Readonly<Record<string, unknown>>) => {
    const given = { ...send(fixture).arguments, ...changes }
    const params = { name: 'email_send_test', arguments: given, _meta: meta, requestState: held.trace_id, inputResponses: {} }
    const response = await fixture.fetch(mcpResource, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${bearer}` },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'email_send_test' },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    return response.text()
  }
  t.regex(await again(token, { text: 'Something else.' }), /arguments differ from the message that waits for approval/)
  t.regex(await again(await fixture.tokenOf(), {}), /No message with this id waits/, 'the message belongs to another grant')
  t.regex(await again(await fixture.anonymousToken(), {}), /not_found/)
  t.deepEqual(fixture.transport.attempted, [])
})

test('approval: an older client gets a link to the page; approval works once', async (t) => {
  const fixture = await startApproval(t)
  const file = { filename: 'bill.txt', content_type: 'text/plain', content: Buffer.from('Bill').toString('base64') }
  const html = '<p>It <b>works</b>.</p><script>alert(1)</script>'
  const held = await fixture.hold({
    html,
    attachments: [file],
    cc: 'cleo@example.org',
    bcc: 'boss@hidden.example',
    to_extra: ['bob@example.org'],
  })
  t.like(held, { outcome: 'relayed', status: 'awaiting_approval' })
  t.true(held.approval.url.startsWith('https://post.example.ch/organizations/'))
  const olga = await fixture.member('olga@example.ch')
  const shown = await olga.get(pathOf(held))
  t.is(shown.status, 200)
  for (const word of [
    'ada@example.org',
    'bob@example.org',
    'cleo@example.org',
    'boss@hidden.example',
    'Hello',
    'It works.',
    'bill.txt',
    held.approval.digest,
  ])
    t.true(shown.html.includes(word), word)
  t.false(shown.html.includes('<script'))
  const frame = /src="([^"]+\/html)"/.exec(shown.html)?.[1] ?? ''
  const framed = await olga.get(frame)
  t.regex(framed.html, /<b>works<\/b>/)
  t.false(framed.html.includes('alert'))
  t.is((await olga.get(frame.replace(/html$/, 'attachments/0'))).html, 'Bill')
  t.like(await fixture.traceOf(held), { status: 'pending' })
  const retried = await fixture.rest.call('POST', `/v1/traces/${held.trace_id}/retry`)
  t.deepEqual([retried.status, errorOf(retried).next_action], [409, 'wait_for_approval'])
  t.deepEqual(fixture.transport.attempted, [])
  await assertSound(t, fixture)

  t.is(await fixture.decide(olga, held, 'approve'), 303)
  t.is(await fixture.decide(olga, held, 'approve'), 409)
  t.is(await fixture.decide(olga, held, 'refuse'), 409)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [['ada@example.org', 'bob@example.org', 'cleo@example.org', 'boss@hidden.example']])
  t.regex((await olga.get(pathOf(held))).html, /Approved by olga@example\.ch/)
  await assertSound(t, fixture)
})

test('approval: concurrent decisions count once, and the message is sent once', async (t) => {
  const fixture = await startApproval(t)
  const [olga, otto] = [await fixture.member('olga@example.ch'), await fixture.member('otto@example.ch')]
  for (const verbs of [
    ['approve', 'approve'],
    ['approve', 'refuse'],
  ] as const) {
    const before = fixture.transport.attempted.length
    const held = await fixture.hold()
    const statuses = await Promise.all([olga, otto].map((member, i) => fixture.decide(member, held, verbs[i] ?? 'approve')))
    t.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [303, 409],
    )
    await fixture.daemon.settled()
    const { status } = await fixture.traceOf(held)
    t.is(fixture.transport.attempted.length - before, status === 'queued' ? 1 : 0)
  }
  await assertSound(t, fixture)
})

test('approval: a refused message is never sent, and the trace names the user', async (t) => {
  const fixture = await startApproval(t)
  const held = await fixture.hold()
  const olga = await fixture.member('olga@example.ch')
  t.is(await fixture.decide(olga, held, 'refuse'), 303)
  const { status, timeline } = await fixture.traceOf(held)
  t.is(status, 'canceled')
  t.regex(timeline.at(-1)?.message ?? '', /^Refused by olga@example\.ch/)
  t.is(await fixture.decide(olga, held, 'approve'), 409)
  const retried = await fixture.rest.call('POST', `/v1/traces/${held.trace_id}/retry`)
  t.is(retried.status, 409)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [])
})

test('approval: applies only to the digest on the page', async (t) => {
  const fixture = await startApproval(t)
  const [held, other] = [await fixture.hold(), await fixture.hold({ text: 'Something else.' })]
  const olga = await fixture.member('olga@example.ch')
  t.not(held.approval.digest, other.approval.digest)
  t.is(await fixture.decide(olga, held, 'approve', other.approval.digest), 409)
  t.is(await fixture.decide(olga, held, 'approve', ''), 409)
  t.deepEqual(fixture.transport.attempted, [])
})

test('approval: the message is canceled after 30 minutes and cannot be approved', async (t) => {
  const fixture = await startApproval(t)
  const held = await fixture.hold()
  const olga = await fixture.member('olga@example.ch')
  fixture.clock.advance(30 * 60_000 - 1)
  await fixture.daemon.settled()
  t.like(await fixture.traceOf(held), { status: 'pending' })
  fixture.clock.advance(1)
  t.is(await fixture.decide(olga, held, 'approve'), 409)
  await fixture.daemon.settled()
  const { status, timeline } = await fixture.traceOf(held)
  t.deepEqual([status, timeline.at(-1)?.event], ['canceled', 'expired'])
  t.regex((await olga.get(pathOf(held))).html, /not approved in time/)
  t.deepEqual(fixture.transport.attempted, [])
  await assertSound(t, fixture)
})

test('approval: the timeout does not affect an approved message', async (t) => {
  const fixture = await startApproval(t)
  const olga = await fixture.member('olga@example.ch')
  const later = await fixture.hold({ send_at: new Date(fixture.clock.now() + 3_600_000).toISOString() })
  const now = await fixture.hold({ to: 'bob@example.org' })
  for (const held of [later, now]) t.is(await fixture.decide(olga, held, 'approve'), 303)
  await fixture.daemon.settled()
  fixture.clock.advance(31 * 60_000)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [['bob@example.org']])
  for (const held of [later, now]) t.like(await fixture.traceOf(held), { status: 'queued' })
  fixture.clock.advance(30 * 60_000)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [['bob@example.org'], ['ada@example.org']])
  await assertSound(t, fixture)
})

test('approval: viewers cannot decide, and other organizations get not_found', async (t) => {
  const fixture = await startApproval(t)
  const held = await fixture.hold()
  const olga = await fixture.member('olga@example.ch', 'owner')
  const viewer = await fixture.member('vera@example.ch', 'viewer')
  const shown = await viewer.get(pathOf(held))
  t.is(shown.status, 200)
  t.false(shown.html.includes('Approve and send'))
  t.is(await fixture.decide(viewer, held, 'approve'), 403)
  t.is(await fixture.decide(viewer, held, 'refuse'), 403)
  t.is((await (await fixture.member('bill@example.ch', 'billing')).get(pathOf(held))).status, 403)
  const other = await fixture.addOrganization()
  const foreign = { ...held, approval: { ...held.approval, url: held.approval.url.replace(fixture.organizationId, other.organizationId) } }
  t.is((await olga.get(pathOf(foreign))).status, 404)
  t.is(await fixture.decide(olga, foreign, 'approve'), 404)
  t.is((await olga.post(`${pathOf(held)}/approve`, { digest: held.approval.digest })).status, 403, 'without the token of the form')
  t.deepEqual(fixture.transport.attempted, [])
})

test('approval: a pending message survives a crash and is sent once after approval', async (t) => {
  const fixture = await startApproval(t)
  const olga = await fixture.member('olga@example.ch')
  const held: Held = await fixture.hold()
  await fixture.daemon.crash()
  const next = await fixture.daemon.again()
  await next.settled()
  t.deepEqual(fixture.transport.attempted, [])
  const { url, digest } = held.approval
  const at = `http://${next.addresses.http}${new URL(url).pathname}`
  const headers = { cookie: olga.cookie, ...olga.origin }
  const html = await (await fetch(at, { headers })).text()
  const csrf = /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const approve = () => fetch(`${at}/approve`, { method: 'POST', headers, body: new URLSearchParams({ csrf, digest }), redirect: 'manual' })
  t.is((await approve()).status, 303)
  await next.settled()
  t.is(fixture.transport.attempted.length, 1)
  fixture.transport.release()
  await next.crash()
  const last = await next.again()
  const after = await fetch(`http://${last.addresses.http}${new URL(url).pathname}/approve`, {
    ...{ method: 'POST', headers, body: new URLSearchParams({ csrf, digest }), redirect: 'manual' },
  })
  t.is(after.status, 409)
  await assertSound(t, { database: last.part('core').database })
})

test('approval: required only for mail of agents to real recipients', async (t) => {
  const fixture = await startApproval(t)
  const agent = await fixture.agent()
  const sandbox = await addDestination(fixture.rest, { name: 'Sandbox' })
  t.like(await agent.must('email_send_test', { ...mail, destination_id: sandbox }), { outcome: 'captured.sandbox_destination' })
  const sandboxed = await fixture.agent({ token: await fixture.tokenOf('mcp:read mcp:send-sandbox') })
  const captured = await sandboxed.must('email_send_test', { ...mail, destination_id: fixture.destinationId })
  t.is(captured['status'], undefined)
  const byRest = await fixture.rest.must('POST', '/v1/messages', { ...mail, destination_id: fixture.destinationId })
  t.deepEqual([byRest['outcome'], byRest['status']], ['relayed', undefined])
  await fixture.rest.must('PATCH', `/v1/projects/${fixture.projectId}`, { agent_send_approval: 'never' })
  const live = await agent.must('email_send_test', { ...mail, destination_id: fixture.destinationId })
  t.deepEqual([live['outcome'], live['status']], ['relayed', undefined])
})

test('approval: a scheduled send needs approval, keeps its time, and can be canceled', async (t) => {
  const fixture = await startApproval(t)
  const sendAt = new Date(fixture.clock.now() + 3_600_000).toISOString()
  const held = await fixture.hold({ send_at: sendAt })
  const olga = await fixture.member('olga@example.ch')
  t.is(await fixture.decide(olga, held, 'approve'), 303)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [])
  fixture.clock.advance(3_600_000)
  await fixture.daemon.settled()
  t.is(fixture.transport.attempted.length, 1)
  const taken = await fixture.hold({ send_at: new Date(fixture.clock.now() + 3_600_000).toISOString() })
  const agent = await fixture.agent()
  t.like(await agent.must('email_scheduled_cancel', { trace_id: taken.trace_id }), { status: 'canceled' })
  t.is(await fixture.decide(olga, taken, 'approve'), 409)
  await assertSound(t, fixture)
})

test('approval: agents start no replay, and agents and keys cannot change the setting', async (t) => {
  const fixture = await startApproval(t)
  const agent = await fixture.agent()
  t.like(await agent.refused('email_bulk_replay', { filter: {} }), { code: 'approval_required', next_action: 'ask_member' })
  const own = await fixture.withKey(['api:admin'], fixture.projectId)
  const changed = await own.call('PATCH', `/v1/projects/${fixture.projectId}`, { agent_send_approval: 'never' })
  t.is(changed.status, 403)
  t.like(await fixture.rest.must('GET', `/v1/projects/${fixture.projectId}`), { agent_send_approval: 'always' })
})

test('approval: one per idempotency key; partitions follow their project', async (t) => {
  const fixture = await startApproval(t)
  const agent = await fixture.agent({ era: 'legacy' })
  const given = { ...mail, destination_id: fixture.destinationId, idempotency_key: 'k1' }
  const first = await agent.must('email_send_test', given)
  t.deepEqual(await agent.must('email_send_test', given), first)
  const olga = await fixture.member('olga@example.ch')
  t.is(await fixture.decide(olga, first as unknown as Held, 'approve'), 303)
  t.like(await agent.must('email_send_test', given), { trace_id: first['trace_id'], outcome: 'relayed' })
  const { id } = await fixture.rest.must('POST', '/v1/projects', { name: 'Tenant', parent_id: fixture.projectId })
  const destination = await addDestination(fixture.rest, { project_id: id, name: 'Of the tenant' }, true)
  const tenant = await fixture.agent({ token: await fixture.tokenOf(undefined, { project: String(id) }) })
  t.like(await tenant.must('email_send_test', { ...mail, destination_id: destination }), { status: 'awaiting_approval' })
})
