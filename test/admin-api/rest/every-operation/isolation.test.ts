/**
 * Every operation of the table, called by unauthorized callers: another organization, another project, too small a scope, and invalid keys.
 * All are refused, and the owner's rows keep every byte.
 */
import test from '#test'
import { pack } from '#store/tuple.ts'
import type { Method, Operation } from '../../../../admin-api/operation/operation.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { mcpResource, restResource } from '../../oauth/oauth-fixture.ts'
import { addDestination, errorOf, refusal, startFixture } from '../fixture/rest-fixture.ts'
import { ask, requestOf, installationOf, type Installation } from '../fixture/one-of-everything.ts'
import { changedSince, rowsOf } from '../fixture/organization-rows.ts'

/** Operations that need no key. */
const isOpen = ({ scope }: Operation<never>): boolean => scope === 'none'

test('every operation has a request, and the owner can make it', async (t) => {
  const installation = await installationOf(t)
  // Pages, OAuth endpoints and operations of a person (own-account.test.ts) take no key and have their own tests.
  const withKey = installation.operations.filter(({ hiddenFromOpenApi, scope }) => !hiddenFromOpenApi && scope !== 'person')
  const inTable = withKey.map(({ operationId }) => operationId)
  t.deepEqual(
    Object.keys(installation.requests).toSorted(),
    inTable.toSorted(),
    'each operation needs a request in requests.ts, and no other',
  )
  for (const operation of installation.walk) {
    const owner = operation.scope === 'operator' ? installation.operator : installation.rest
    if (operation.operationId === 'unsubscribe') continue // takes a form; see unsubscribe.test.ts
    const { status, bytes } = await ask(owner, operation, requestOf(installation, operation))
    t.true(status >= 200 && status < 400, `${operation.operationId} answered ${status}: ${bytes.toString().slice(0, 300)}`)
  }
})

/** Administrator operations without an audit entry: they change nothing, nothing of the organization, or only an unpublished draft. */
const noActs = new Set([
  'listAuditEntries',
  'testDestination',
  'testWebhook',
  'testAlertChannel',
  'testFormWebhook',
  'testInboundRoute',
  'clearInbox',
  'saveFormDraft',
  'stopQueueAct',
])

/** Send operations with an audit entry, since they override an earlier decision. */
const sendsThatAreActs = new Set(['releaseInboxMessage'])

test('every administrator action has an audit entry with its key and without a secret', async (t) => {
  const installation = await installationOf(t)
  const acts = async () =>
    (await installation.rest.must('GET', '/v1/audit?limit=200'))['data'] as { id: string; act: string; actor: object }[]
  for (const operation of installation.walk) {
    if (operation.scope === 'operator' || operation.operationId === 'unsubscribe') continue
    const before = new Set((await acts()).map(({ id }) => id))
    await ask(installation.rest, operation, requestOf(installation, operation))
    const fresh = (await acts()).filter(({ id }) => !before.has(id))
    const isAct = (operation.scope === 'api:admin' && !noActs.has(operation.operationId)) || sendsThatAreActs.has(operation.operationId)
    t.is(fresh.length > 0, isAct, `${operation.operationId}: ${JSON.stringify(fresh)}`)
    for (const { actor } of fresh) t.deepEqual(actor, { kind: 'api_key', id: 'key_environment' })
  }
  t.notRegex(JSON.stringify(await acts()), /svckey_|sealed|sha256|fingerprint|"password"/)
})

test('another organization can neither read nor change anything', async (t) => {
  const installation = await installationOf(t)
  const outsider = await installation.addOrganization()
  const before = await rowsOf(installation)
  const ids = idsOf(installation)
  for (const operation of installation.walk) {
    if (isOpen(operation)) continue
    const request = requestOf(installation, operation)
    const answer = await ask(outsider.rest, operation, request)
    const expected = operation.scope === 'operator' ? 'unauthorized' : request.outsider
    t.is(
      outcomeOf(answer),
      expected,
      `ledger: ${operation.operationId} answered ${answer.status}: ${answer.bytes.toString().slice(0, 200)}`,
    )
    if (expected === 'own') for (const id of ids) t.false(answer.bytes.includes(id), `ledger: ${operation.operationId} shows ${id}`)
    t.deepEqual(await changedSince(installation, before), [], `ledger: ${operation.operationId}`)
  }
})

test('an access token of another organization reads and changes nothing', async (t) => {
  const installation = await installationOf(t)
  const { body } = await installation.bootstrap({ resource: restResource })
  const outsider = installation.client(String(body['access_token']))
  const before = await rowsOf(installation)
  const ids = idsOf(installation)
  for (const operation of installation.walk) {
    if (isOpen(operation)) continue
    const answer = await ask(outsider, operation, requestOf(installation, operation))
    t.true(answer.status < 500, operation.operationId)
    if (requestOf(installation, operation).outsider === 'refused')
      t.true(answer.status >= 400, `ledger: ${operation.operationId} answered ${answer.status}`)
    if (answer.status < 400) for (const id of ids) t.false(answer.bytes.includes(id), `ledger: ${operation.operationId} shows ${id}`)
    t.deepEqual(await changedSince(installation, before), [], `ledger: ${operation.operationId}`)
  }
})

test('a key of another project can neither read nor change this project', async (t) => {
  const installation = await installationOf(t)
  const project = await installation.addProject()
  const neighbour = await installation.withKey(['api:admin'], project)
  const before = await rowsOf(installation)
  for (const operation of installation.walk) {
    if (isOpen(operation)) continue
    const request = requestOf(installation, operation)
    const expected = operation.scope === 'operator' ? 'unauthorized' : (request.neighbour ?? request.outsider)
    const answer = await ask(neighbour, operation, request)
    if (expected === 'shared') continue
    t.is(
      outcomeOf(answer),
      expected,
      `ledger: ${operation.operationId} answered ${answer.status}: ${answer.bytes.toString().slice(0, 200)}`,
    )
    if (expected === 'own') t.false(answer.bytes.includes(installation.made.project), `ledger: ${operation.operationId} shows the project`)
  }
  const changed = await changedSince(installation, before)
  t.deepEqual(
    changed.filter((key) => before.has(key) && !key.includes(project) && !isOfEverybody(installation, key)),
    [],
    'ledger: rows of the project changed',
  )
})

test('a key of another project gets the same answer for foreign ids as for unknown ids', async (t) => {
  const installation = await installationOf(t)
  const neighbour = await installation.withKey(['api:admin'], await installation.addProject())
  const ids = idsOf(installation).filter((id) => !/^(?:dom|src|org)_/.test(id)) // belong to the whole organization
  const missing = (text: string): string => ids.reduce((given, id) => given.replaceAll(id, `${id.slice(0, -8)}ffffffff`), text)
  for (const operation of installation.walk) {
    const request = requestOf(installation, operation)
    const { neighbour: outcome = request.outsider } = request
    if (isOpen(operation) || (outcome !== 'refused' && outcome !== 'silent')) continue
    const foreign = await ask(neighbour, operation, request)
    const none = await ask(neighbour, operation, JSON.parse(missing(JSON.stringify(request))) as typeof request)
    t.is(foreign.status, none.status, `ledger: ${operation.operationId}`)
    t.is(missing(foreign.bytes.toString()), none.bytes.toString(), `ledger: ${operation.operationId}`)
  }
})

test('a destination of another project is answered like an unknown one in every field', async (t) => {
  const { rest, withKey, addProject, clock } = await startFixture(t)
  const foreign = await addDestination(rest, {}, true)
  const key = await withKey(['api:admin'], await addProject())
  const own = await addDestination(key, {}, true)
  const domain = String((await rest.must('POST', '/v1/domains', { domain: 'example.ch' }))['id'])
  const rule = String((await key.must('POST', '/v1/routing/rules', { match: 'b.ch', destination_id: own }))['id'])
  const credential = String((await key.must('POST', '/v1/smtp-credentials', {}))['id'])
  const plain = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'x' }
  await key.must('POST', '/v1/messages', plain)
  const inbox = String(((await key.must('GET', '/v1/inboxes'))['data'] as { id: string }[])[0]?.id)
  const message = String(((await key.must('GET', `/v1/inboxes/${inbox}/messages`))['data'] as { id: string }[])[0]?.id)
  const later = new Date(clock.now() + 3_600_000).toISOString()
  const cases = (id: string): readonly (readonly [Method, string, unknown?])[] => [
    ...(['', '/health', '/evidence'] as const).map((part) => ['GET', `/v1/destinations/${id}${part}`] as const),
    ['PATCH', `/v1/destinations/${id}`, { name: 'Mine' }],
    ['PATCH', `/v1/destinations/${id}/mode`, { mode: 'sandbox' }],
    ...(['test', 'promote-to-live', 'evidence'] as const).map((act) => ['POST', `/v1/destinations/${id}/${act}`] as const),
    ['DELETE', `/v1/destinations/${id}`],
    ...(['/v1/queue', '/v1/queue/counts', '/v1/traces'] as const).map((path) => ['GET', `${path}?destination_id=${id}`] as const),
    ['POST', '/v1/queue/acts', { act: 'hold', filter: { destination_id: id }, dry_run: true }],
    ['POST', '/v1/queue/acts', { act: 'hold', filter: { destination_id: id }, expected: 0 }],
    ['POST', '/v1/queue/holds', { filter: { destination_id: id } }],
    ['POST', '/v1/routing/what-if', { down_ids: [id] }],
    ['POST', '/v1/routing/what-if', { rules: [{ match: '*', destination_id: id }] }],
    ['POST', '/v1/routing/what-if', { failover: { primary_id: own, fallback_ids: [id], conditions: { on: ['transient'] } } }],
    ['POST', '/v1/routing/simulate', { from: 'shop@b.ch', to: 'ada@example.ch', destination_id: id }],
    ['POST', '/v1/routing/rules', { match: 'c.ch', destination_id: id }],
    ['PATCH', `/v1/routing/rules/${rule}`, { destination_id: id }],
    ['POST', '/v1/failover/policy', { primary_id: id, fallback_ids: [own], conditions: { on: ['transient'] } }],
    ['POST', '/v1/failover/policy', { primary_id: own, fallback_ids: [id], conditions: { on: ['transient'] } }],
    ['DELETE', `/v1/failover/policy/${id}`],
    ['POST', '/v1/smtp-credentials', { default_destination_id: id }],
    ['PATCH', `/v1/smtp-credentials/${credential}`, { default_destination_id: id }],
    ['GET', `/v1/domains/${domain}/records?destination_id=${id}`],
    ['POST', '/v1/messages', { ...plain, destination_id: id }],
    ['POST', '/v1/messages', { ...plain, destination_id: id, send_at: later }],
    ['POST', '/v1/replays', { filter: {}, target_destination_id: id }],
    ['POST', '/v1/replays', { filter: { destination_id: id }, dry_run: true }],
    ['POST', `/v1/inboxes/${inbox}/messages/${message}/release`, { destination_id: id }],
    ...(['destinations', 'domains', 'delivery'] as const).map((of) => ['GET', `/v1/insights/${of}?destination_id=${id}`] as const),
  ]
  const none = `dst_${'f'.repeat(32)}`
  const [named, unnamed] = [cases(foreign), cases(none)]
  for (const [i, [method, path, body]] of named.entries()) {
    const [, otherPath = '', otherBody] = unnamed[i] ?? []
    const [one, other] = [await key.call(method, path, body), await key.call(method, otherPath, otherBody)]
    const what = `ledger: ${method} ${path} ${JSON.stringify(body)}`
    t.is(one.status, other.status, what)
    if (one.status >= 400)
      t.deepEqual(refusal(one), [other.status, errorOf(other).code, errorOf(other).message.replaceAll(none, foreign)], what)
    else if (method === 'GET') t.deepEqual(one.body, other.body, what)
  }
  t.deepEqual((await rest.must('GET', '/v1/queue/holds'))['data'], [])
})

const idsOf = ({ made }: Installation): string[] =>
  Object.values(made).filter((id) => /^(prj|dst|rul|smc|tpl|key|rpl|inb|cap|dom|sup|uns|org|src|pom|whk|wha|frm)_/.test(id))

/** Rows of the whole organization, including the row that serializes changes of its settings. */
const isOfEverybody = ({ made }: Installation, key: string): boolean =>
  key.includes(made.domain) ||
  key.includes('suppression') ||
  key === Buffer.from(pack([made.organizationId, 'settings'])).toString('latin1')

test('a key without the required scope is refused and changes nothing', async (t) => {
  const installation = await installationOf(t)
  const reader = await installation.withKey(['api:read'])
  const sender = await installation.withKey(['api:send'])
  const before = await rowsOf(installation)
  for (const operation of installation.walk) {
    if (operation.scope !== 'api:send' && operation.scope !== 'api:admin') continue
    for (const client of operation.scope === 'api:send' ? [reader] : [reader, sender]) {
      const answer = await ask(client, operation, requestOf(installation, operation))
      t.is(answer.status, 403, operation.operationId)
      t.is(errorOf(answer).code, 'insufficient_scope', operation.operationId)
      t.deepEqual(await changedSince(installation, before), [], operation.operationId)
    }
  }
})

test('keys with only api:read or api:send see no signing or login secret', async (t) => {
  const installation = await installationOf(t)
  const clients = [await installation.withKey(['api:read']), await installation.withKey(['api:send'])]
  const walk = installation.walk.filter(({ method, scope }) => method === 'GET' && scope === 'api:read')
  t.true(walk.some(({ operationId }) => operationId === 'getInbox'))
  for (const operation of walk) {
    for (const client of clients) {
      const { status, bytes } = await ask(client, operation, requestOf(installation, operation))
      t.true(status < 400, operation.operationId)
      t.notRegex(bytes.toString(), /whsec_[\w-]{20}|svckey_[\w-]{43}|"(?:password|hmac_secret|client_secret)":"[^"]/, operation.operationId)
    }
  }
})

test('a missing or invalid key is refused by every operation', async (t) => {
  const installation = await installationOf(t)
  const bad = await badKeys(installation)
  const before = await rowsOf(installation)
  for (const operation of installation.walk) {
    if (isOpen(operation)) continue
    for (const [what, key] of Object.entries(bad)) {
      const answer = await ask(installation.client(key), operation, requestOf(installation, operation))
      t.is(answer.status, 401, `${operation.operationId} with ${what}`)
    }
    t.deepEqual(await changedSince(installation, before), [], operation.operationId)
  }
})

/** Every kind of invalid credential, by name. Add each new kind of token here. */
async function badKeys({ rest, clock, client, removals, organizationId, bootstrap, post }: Installation): Promise<Record<string, string>> {
  const mint = async (changes: object = {}): Promise<{ id: string; key: string }> =>
    (await rest.must('POST', '/v1/api-keys', { name: 'bad', scopes: ['api:admin'], ...changes })) as { id: string; key: string }
  const expired = await mint({ expires_at: new Date(clock.now() + 1000).toISOString() })
  const revoked = await mint()
  await rest.must('DELETE', `/v1/api-keys/${revoked.id}`)
  const rotated = await mint()
  await rest.must('POST', `/v1/api-keys/${rotated.id}/rotate`)
  const project = await rest.must('POST', '/v1/projects', { name: 'Short-lived' })
  const ofProject = await mint({ project_id: project['id'] })
  await rest.must('DELETE', `/v1/projects/${String(project['id'])}`)
  const team = await rest.must('POST', '/v1/organizations', { name: 'Short-lived' })
  await client(String(team['api_key'])).must('GET', '/v1/projects/me')
  await rest.must('DELETE', `/v1/organizations/${String(team['id'])}`)
  await removals.idle()
  const token = async (resource: string): Promise<string> => String((await bootstrap({ resource })).body['access_token'])
  const old = await token(restResource)
  clock.advance(2 * 3_600_000)
  const ended = await token(restResource)
  await post('/oauth/revoke', { token: ended, client_id: 'anonymous-bootstrap' })
  const other = await token(restResource)
  return {
    nothing: '',
    garbage: 'garbage',
    'an unknown key': `svckey_${'b'.repeat(43)}`,
    'a publishable key': `svcpub_${'b'.repeat(43)}`,
    'an id for a key': organizationId,
    'an expired key': expired.key,
    'a revoked key': revoked.key,
    'a key before its rotation': rotated.key,
    'a key of a deleted project': ofProject.key,
    'a key of a deleted organization': String(team['api_key']),
    'an expired token': old,
    'a revoked token': ended,
    'a token for MCP': await token(mcpResource),
    'a token with another signature': `${other.slice(0, -4)}${other.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`,
  }
}

function outcomeOf({ status, body }: RestAnswer): string {
  if (status === 204) return 'silent'
  if (status >= 200 && status < 400) return 'own'
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  const namesId = status === 400 && /has this id/.test((body as { error: { message: string } }).error.message)
  return status === 404 || namesId ? 'refused' : `status ${status}`
}

test('creating a resource with a destination of another organization is refused', async (t) => {
  const { rest, addOrganization, addProject, withKey } = await startFixture(t)
  const destination_id = await addDestination(rest, {}, true)
  const plain = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'x' }
  for (const requester of [(await addOrganization()).rest, await withKey(['api:admin'], await addProject())]) {
    for (const [path, body] of [
      ['/v1/routing/rules', { match: '*', destination_id }],
      ['/v1/smtp-credentials', { default_destination_id: destination_id }],
      ['/v1/messages', { ...plain, destination_id }],
    ] as const)
      t.regex(errorOf(await requester.call('POST', path, body)).message, /destination_id: no destination of this project has this id/, path)
  }
})
