/** Creating, finding, changing and deleting virtual inboxes over REST. */
import test from '#test'
import { WebhookReceiver } from '../../../support/web/webhook-receiver.ts'
import { objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'

const plain = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'Hello', text: 'x' }
const rowsOf = (answer: Record<string, unknown>): Record<string, unknown>[] => answer['data'] as Record<string, unknown>[]

test('an inbox is created, found by its pattern, changed and deleted; its messages remain', async (t) => {
  const { rest, withKey } = await startFixture(t)
  const made = await rest.must('POST', '/v1/inboxes', { address_pattern: '@Example.CH' })
  t.like(made, { address_pattern: '@example.ch', name: '@example.ch', notify_webhook_url: null, retention_days: null, last_notify: null })
  t.regex(String(made['signing_secret']), /^whsec_[\w-]{43}$/)
  const path = `/v1/inboxes/${String(made['id'])}`
  t.deepEqual(await rest.must('GET', path), made)
  for (const scope of ['api:read', 'api:send'] as const)
    t.deepEqual(await (await withKey([scope])).must('GET', path), { ...made, signing_secret: null }, scope)
  t.deepEqual(await rest.must('GET', '/v1/inboxes/lookup?address=@EXAMPLE.ch'), { found: true, inbox: made })
  t.deepEqual(await rest.must('GET', '/v1/inboxes/lookup?address=@nobody.ch'), { found: false })
  const changed = await rest.must('PATCH', path, { name: 'Staging', retention_days: 7, notify_webhook_url: 'https://hooks.example.ch/x' })
  t.like(changed, { name: 'Staging', retention_days: 7, notify_webhook_url: 'https://hooks.example.ch/x' })
  t.is(changed['signing_secret'], made['signing_secret'])
  t.like(await rest.must('PATCH', path, { retention_days: null, notify_webhook_url: null }), {
    retention_days: null,
    notify_webhook_url: null,
  })
  await rest.must('POST', '/v1/messages', plain)
  t.is(rowsOf(await rest.must('GET', `${path}/messages`)).length, 1)
  t.deepEqual(await rest.must('DELETE', `${path}/messages`), { status: 'unimplemented', cleared: 0 })
  t.is(rowsOf(await rest.must('GET', `${path}/messages`)).length, 1)
  t.is((await rest.call('DELETE', path)).status, 204)
  t.is((await rest.call('DELETE', path)).status, 204)
  t.is((await rest.call('GET', path)).status, 404)
  t.is(rowsOf(await rest.must('GET', '/v1/inboxes/*/messages')).length, 1)
})

test('listInboxMessages accepts a pattern; an unknown pattern returns an empty list', async (t) => {
  const { rest } = await startFixture(t)
  await rest.must('POST', '/v1/messages', plain)
  const found = await rest.must('GET', '/v1/inboxes/*/messages')
  t.is(found['found'], true)
  t.is(rowsOf(found).length, 1)
  t.deepEqual(await rest.must('GET', '/v1/inboxes/nobody@example.ch/messages'), { found: false, data: [], next_cursor: null })
  t.is(rowsOf(await rest.must('GET', '/v1/inboxes/*/messages?address=ADA@example.ch')).length, 1)
  t.is(rowsOf(await rest.must('GET', '/v1/inboxes/*/messages?address=bea@example.ch')).length, 0)
})

test('invalid settings are refused with the name of the field', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const wrong = async (body: object) => refusal(await rest.call('POST', '/v1/inboxes', body))
  t.deepEqual(await wrong({ address_pattern: 'ada' }), [
    400,
    'validation_failed',
    'address_pattern: must be * for every address, @example.ch for a domain, or one address',
  ])
  t.is(
    (await wrong({ address_pattern: '*' }))[2],
    'Another inbox of that project has the pattern *; change its pattern or delete it first.',
  )
  t.regex((await wrong({ address_pattern: '@a.ch', notify_webhook_url: 'ftp://x' }))[2], /^notify_webhook_url: must be an https URL/)
  t.regex(
    (await wrong({ address_pattern: '@a.ch', notify_webhook_url: 'https://10.0.0.1/' }))[2],
    /^notify_webhook_url: .*POSTERN_OUTBOUND_ALLOW/,
  )
  t.regex((await wrong({ address_pattern: '@a.ch', retention_days: 0 }))[2], /^retention_days: /)
  const project = await fixture.addProject()
  t.is((await rest.call('POST', `/v1/inboxes?project=${project}`, { address_pattern: '@a.ch' })).status, 201)
  t.is(rowsOf(await rest.must('GET', `/v1/inboxes?project=${project}`)).length, 2)
  t.deepEqual(refusal(await rest.call('POST', '/v1/inboxes?project=prj_none', { address_pattern: '@b.ch' })).slice(0, 2), [
    404,
    'not_found',
  ])
})

test('with the flag off, inboxes cannot be created; reading and waiting still work', async (t) => {
  const { rest, operator, organizationId } = await startFixture(t)
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { virtual_inboxes: false })
  t.is(refusal(await rest.call('POST', '/v1/inboxes', { address_pattern: '@a.ch' }))[1], 'feature_disabled')
  t.is((await rest.call('GET', '/v1/inboxes/lookup?address=*')).status, 200)
})

test('getInbox shows the outcome of the latest notification', async (t) => {
  const fixture = await startFixture(t)
  await using receiver = await new WebhookReceiver().listen()
  const { id } = await fixture.rest.must('POST', '/v1/inboxes', { address_pattern: 'ada@example.ch', notify_webhook_url: receiver.url })
  await fixture.rest.must('POST', '/v1/messages', plain)
  fixture.inboxCore.backgroundRead.wake()
  await fixture.daemon.settled()
  const { last_notify: last } = await fixture.rest.must('GET', `/v1/inboxes/${String(id)}`)
  const [message] = rowsOf(await fixture.rest.must('GET', `/v1/inboxes/${String(id)}/messages`))
  t.like(last, { message_id: message?.['id'], status_code: 204, error: null })
  const usage = objectOf(await fixture.rest.call('GET', '/v1/usage'))
  t.regex(JSON.stringify(usage), /"vi_notifies"[^}]*1/)
})
