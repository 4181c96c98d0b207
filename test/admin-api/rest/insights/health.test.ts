/** Health of endpoints, inbound routes, domains, bounce sources and websites over REST, GraphQL and MCP. */
import test, { type ExecutionContext } from '#test'
import { observed } from '#core/findings/finding.ts'
import { writeSeen } from '#core/ingest-sources/source-status.ts'
import { receiverHealth } from '#core/webhooks/receiver-health.ts'
import { ResolveError } from '#core/outbound/resolver.ts'
import { sites } from '#core/sites/site.ts'
import { inboundRoutes } from '#core/inbound-routes/route.ts'
import { Change } from '#store/change.ts'
import { goodCertificate } from '../../../protocols/relay/certificates.ts'
import { receiverOf } from '../../../support/web/webhook-receiver.ts'
import { startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { announceIn } from '../feedback/webhook-scene.ts'
import { openFindings } from './finding-requests.ts'

type Row = Readonly<Record<string, unknown>>
const minute = 60_000

const projectOf = async ({ rest }: Fixture): Promise<string> => String((await rest.must('GET', '/v1/projects/me'))['project_id'])
/** Returns the health in the list, which equals the health of the resource. */
async function healthOf(t: ExecutionContext, { rest }: Fixture, path: string, id: string): Promise<Row> {
  const { health } = await rest.must('GET', `${path}/${id}`)
  const listed = ((await rest.must('GET', path))['data'] as Row[]).find((row) => row['id'] === id)
  t.deepEqual(listed?.['health'], health)
  return health as Row
}
const time = (ms: number): string => new Date(ms).toISOString()
const nothing = { since: null, last_success_at: null, last_reply: null, findings: [] }

test('an endpoint that answers 410 is failing with this reply, and ok after it accepts an event', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock, webhookDispatcher, daemon } = fixture
  const project = await projectOf(fixture)
  const receiver = await receiverOf(t, { certificate: goodCertificate, answer: (response) => response.writeHead(410).end('secret words') })
  const id = String((await rest.must('POST', '/v1/webhooks', { name: 'Old bot', target_url: receiver.url }))['id'])
  const health = (): Promise<Row> => healthOf(t, fixture, '/v1/webhooks', id)
  t.deepEqual(await health(), { state: 'unknown', failures_in_a_row: 0, ...nothing })
  await daemon.part('watch').start()
  await webhookDispatcher.start()
  const begun = clock.now()
  const send = async (): Promise<void> => {
    await announceIn(fixture, project)
    await webhookDispatcher.idle()
  }
  const look = async (): Promise<void> => {
    clock.advance(16 * minute)
    await daemon.part('watch').idle()
    await webhookDispatcher.idle()
  }
  await send()
  const first = { since: time(begun), last_success_at: null, failures_in_a_row: 1, last_reply: '410', findings: [] }
  t.deepEqual(await health(), { state: 'unknown', ...first }, 'before the finding opens')
  for (let more = 0; more < 2; more++) await send()
  await look()
  t.like(await health(), { state: 'failing', since: time(begun), last_reply: '410', findings: ['webhook.failing'] })
  receiver.answer = (response) => response.writeHead(204).end()
  await send()
  const repaired = clock.now()
  t.like(await health(), { failures_in_a_row: 0, last_reply: '204', last_success_at: time(repaired) })
  await look()
  t.like(await health(), { state: 'ok', since: null, failures_in_a_row: 0, last_reply: '204', findings: [] })
  await rest.must('PATCH', `/v1/webhooks/${id}`, { paused: true })
  t.like(await rest.must('GET', `/v1/webhooks/${id}`), { paused: true, health: { state: 'ok' } })
  const { body } = await rest.call('POST', '/v1/graphql', {
    query: `{ webhookEndpoint(id: "${id}") { health { state lastReply failuresInARow lastSuccessAt findings } } }`,
  })
  t.like(body, { data: { webhookEndpoint: { health: { state: 'ok', lastReply: '204', failuresInARow: 0, findings: [] } } } })
})

test('an endpoint without an answer has the reply no_response, and its health ends with it', async (t) => {
  const fixture = await startFixture(t)
  const { rest, webhookDispatcher, database, organizationId } = fixture
  const id = String((await rest.must('POST', '/v1/webhooks', { name: 'Away', target_url: 'https://127.0.0.1:9/' }))['id'])
  await webhookDispatcher.start()
  await announceIn(fixture, await projectOf(fixture))
  await webhookDispatcher.idle()
  t.like(await healthOf(t, fixture, '/v1/webhooks', id), { state: 'unknown', failures_in_a_row: 1, last_reply: 'no_response' })
  t.is((await database.all(receiverHealth, { organizationId })).length, 1)
  await rest.call('DELETE', `/v1/webhooks/${id}`)
  await webhookDispatcher.idle()
  t.deepEqual(await database.all(receiverHealth, { organizationId }), [])
})

test('an inbound route has the health of its webhook', async (t) => {
  const fixture = await startFixture(t)
  const { rest, daemon, database, organizationId, clock } = fixture
  const route = { local_part_pattern: 'orders', webhook_url: 'https://hooks.example.ch/in' }
  const id = String((await rest.must('POST', '/v1/inbound-routes', route))['id'])
  const health = (): Promise<Row> => healthOf(t, fixture, '/v1/inbound-routes', id)
  t.deepEqual(await health(), { state: 'unknown', failures_in_a_row: 0, ...nothing })
  const stored = await database.get(inboundRoutes, { organizationId }, id)
  await openFindings(daemon, organizationId, [observed('inbound.failing', id, { name: 'orders', count: 3 }, stored?.record.projectId)])
  t.like(await health(), { state: 'failing', since: time(clock.now()), findings: ['inbound.failing'] })
})

test('a domain is ok once its required records are found, and failing while a finding is open', async (t) => {
  const fixture = await startFixture(t)
  const { rest, daemon, records, organizationId, clock } = fixture
  const made = await rest.must('POST', '/v1/domains', { domain: 'example.ch' })
  const id = String(made['id'])
  const health = (): Promise<Row> => healthOf(t, fixture, '/v1/domains', id)
  const verify = (): Promise<unknown> => rest.must('POST', `/v1/domains/${id}/verify`)
  t.deepEqual(await health(), { state: 'unknown', failures_in_a_row: null, ...nothing })
  await verify()
  t.like(await health(), { state: 'unknown', last_success_at: null })
  const keys = (made['records'] as Row[]).filter(({ purpose }) => purpose === 'dkim')
  const publish = (isThere: boolean): void => {
    for (const { name, expected } of keys) records.txt.set(String(name), isThere ? [String(expected)] : [])
  }
  publish(true)
  await verify()
  t.like(await health(), { state: 'ok', last_success_at: time(clock.now()), findings: [] })
  publish(false)
  const name = String(keys[0]?.['name'])
  const lost = { domain: 'example.ch', name, state: 'missing', signed: 'yes' }
  const other = { domain: 'example.org', name: 'example.org', state: 'missing', type: 'TXT', record: '' }
  const found = [observed('domain.dkim', 'example.ch', lost), observed('domain.spf', 'example.org', other)]
  await openFindings(daemon, organizationId, found, 'domains')
  t.like(await health(), { state: 'failing', since: time(clock.now()), findings: ['domain.dkim'] })
  await verify()
  t.like(await health(), { state: 'failing', last_success_at: null }, 'the record is still missing')
  publish(true)
  records.txt.set(name, new ResolveError('timeout', 'no server answered'))
  await verify()
  t.like(await health(), { state: 'failing' }, 'no name server answers')
  publish(true)
  await verify()
  t.like(await health(), { state: 'ok', since: null, findings: [] }, 'a verification ends the finding at once')
  const open = (await rest.must('GET', '/v1/findings'))['data'] as Row[]
  t.deepEqual(
    open.map(({ subject }) => subject),
    ['example.org'],
  )
})

test('a bounce source is ok after a report, and shows that it is silent', async (t) => {
  const fixture = await startFixture(t)
  const { rest, daemon, database, organizationId, clock } = fixture
  const id = String((await rest.must('POST', '/v1/ingest-sources', { provider: 'stalwart', label: 'mx1' }))['id'])
  const health = (): Promise<Row> => healthOf(t, fixture, '/v1/ingest-sources', id)
  t.deepEqual(await health(), { state: 'unknown', failures_in_a_row: null, ...nothing })
  await database.commit(writeSeen(new Change(), organizationId, id, { at: clock.now(), agent: null }))
  t.like(await health(), { state: 'ok', last_success_at: time(clock.now()) })
  await openFindings(daemon, organizationId, [observed('source.silent', id, { name: 'mx1', provider: 'stalwart', days: 3 })])
  t.like(await health(), { state: 'warning', findings: ['source.silent'] })
})

test('a website has the health of its verified domains', async (t) => {
  const fixture = await startFixture(t)
  const { rest, daemon, database, organizationId, clock } = fixture
  const id = String((await rest.must('POST', '/v1/sites', { slug: 'alpenblick' }))['id'])
  const health = (): Promise<Row> => healthOf(t, fixture, '/v1/sites', id)
  t.deepEqual(await health(), { state: 'ok', failures_in_a_row: null, ...nothing })
  const stored = await database.get(sites, { organizationId }, id)
  t.truthy(stored)
  if (!stored) return
  const at = clock.now()
  const domain = { name: 'www.example.ch', token: 't', verifiedAt: at, checkedAt: at, problem: null, createdAt: at }
  await database.commit(new Change().replace(sites, organizationId, stored, { ...stored.record, domains: [domain] }))
  t.like(await health(), { state: 'ok', last_success_at: time(at) })
  const params = { domain: 'www.example.ch', slug: 'alpenblick', cause: 'address' }
  await openFindings(daemon, organizationId, [observed('site.domain', 'www.example.ch', params, stored.record.projectId)])
  t.like(await health(), { state: 'warning', since: time(at), findings: ['site.domain'] })
})
