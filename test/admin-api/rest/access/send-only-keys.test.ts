/** Send-only keys send, read the status of the messages they sent, and read nothing else. */
import test from '#test'
import { addDestination, errorOf, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'
import { ask, requestOf, installationOf } from '../fixture/one-of-everything.ts'

const message = { from: 'shop@example.ch', to: 'ada@example.org', subject: 'Your order', text: 'Thank you.' }

test('a send-only key sends for one project and reads the status of its sends only', async (t) => {
  const { rest, client, addProject } = await startFixture(t)
  const project_id = await addProject()
  const mint = async (changes: object = {}) => rest.must('POST', '/v1/api-keys', { name: 'My site', send_only: true, ...changes })
  const minted = await mint({ project_id })
  t.like(minted, { scopes: [], send_only: true, project_id, status: 'active' })
  const [installation, other] = [client(String(minted['key'])), client(String((await mint({ project_id }))['key']))]

  const sent = objectOf(await installation.call('POST', '/v1/messages', message))
  const path = `/v1/traces/${String(sent['trace_id'])}`
  const status = objectOf(await installation.call('GET', path))
  t.deepEqual(Object.keys(status).toSorted(), ['created_at', 'outcome', 'status', 'trace_id'])
  t.like(status, { trace_id: sent['trace_id'], outcome: 'captured.no_route', status: 'captured' })

  // Messages of other keys are not found, also under the same idempotency key.
  t.is((await other.call('GET', path)).status, 404)
  const foreign = objectOf(await rest.call('POST', '/v1/messages', { ...message, project_id, idempotency_key: 'order-1' }))
  t.is((await installation.call('GET', `/v1/traces/${String(foreign['trace_id'])}`)).status, 404)
  const keyed = async () =>
    objectOf(await installation.call('POST', '/v1/messages', { ...message, idempotency_key: 'order-1' }))['trace_id']
  const own = await keyed()
  t.not(own, foreign['trace_id'])
  t.is(await keyed(), own)

  // A rotated secret belongs to the same key.
  const rotated = await rest.must('POST', `/v1/api-keys/${String(minted['id'])}/rotate`)
  t.is((await client(String(rotated['key'])).call('GET', path)).status, 200)
  t.like(await mint(), { project_id: (await rest.must('GET', '/v1/projects/me'))['project_id'] })
})

test('a refused send reveals no resource to a send-only key', async (t) => {
  const { rest, client, addProject } = await startFixture(t)
  const project_id = await addProject()
  const destination_id = await addDestination(rest, { name: 'Hidden host', environment: 'hidden', project_id }, true)
  await rest.must('POST', '/v1/routing/rules', { match: 'hidden.example.ch', destination_id, project_id })
  await rest.must('POST', '/v1/templates', { slug: 'hidden', name: 'Hidden', subject_tmpl: 'Hidden', text_tmpl: 'Hidden', project_id })
  await rest.must('PATCH', `/v1/projects/${project_id}`, { no_route_policy: 'reject', environment: 'hidden' })
  const installation = client(String((await rest.must('POST', '/v1/api-keys', { name: 'x', send_only: true, project_id }))['key']))
  for (const changes of [
    { environment: 'other' },
    { environment: 'other', from: null },
    { destination_id: 'dst_1' },
    { from: null },
    { template_slug: 'other', text: null, subject: null },
    { template_slug: 'hidden', template_version: 7, text: null, subject: null },
    { send_at: '2020-01-01T00:00:00Z' },
    'no route',
  ]) {
    if (changes === 'no route') await rest.must('PATCH', `/v1/destinations/${destination_id}`, { environment: 'Hidden again' })
    const { status, bytes } = await installation.call('POST', '/v1/messages', { ...message, ...(typeof changes === 'object' && changes) })
    t.true(status >= 400, JSON.stringify(changes))
    t.notRegex(bytes.toString(), /hidden/i)
  }
  t.regex(
    errorOf(await rest.call('POST', '/v1/messages', { ...message, project_id, environment: 'other' })).message,
    /known environments: Hidden again$/,
  )
})

test('createApiKey names the fields that send_only excludes', async (t) => {
  const { rest } = await startFixture(t)
  const wrong = async (body: object) => errorOf(await rest.call('POST', '/v1/api-keys', { name: 'x', ...body })).message
  t.is(await wrong({ send_only: true, scopes: ['api:read'] }), 'scopes: must be omitted for a send-only key')
  t.is(await wrong({ send_only: false }), 'scopes: is required')
  t.is(await wrong({}), 'scopes: is required')
})

test('all other operations refuse a send-only key, regardless of the request', async (t) => {
  const installation = await installationOf(t)
  const { made } = installation
  const minted = await installation.rest.must('POST', '/v1/api-keys', { name: 'My site', send_only: true, project_id: made.project })
  const key = installation.client(String(minted['key']))
  const open: string[] = []
  for (const operation of installation.walk) {
    const { scope, operationId, openToSendOnlyKeys } = operation
    if (scope === 'none') continue
    const answer = await ask(key, operation, requestOf(installation, operation))
    if (openToSendOnlyKeys) open.push(operationId)
    else if (scope === 'operator') t.is(answer.status, 401, operationId)
    else t.deepEqual([answer.status, errorOf(answer).code], [403, 'insufficient_scope'], operationId)
    if (answer.status < 400) t.false(answer.bytes.includes(made.trace), operationId)
  }
  t.deepEqual(open.toSorted(), ['getTrace', 'sendMessage', 'sendMessageBatch'])
  t.deepEqual(refusal(await key.call('GET', `/v1/traces/${made.trace}`)), [404, 'not_found', 'No trace has this id.'])
  t.deepEqual(refusal(await key.call('GET', '/v1/projects/me')), [
    403,
    'insufficient_scope',
    'This requires the scope api:read; this key is for sending only.',
  ])
})
