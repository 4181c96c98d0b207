/** The audit log by REST: entries and filters. */
import test from '#test'
import { addDestination, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column, columns } from '../../../support/column.ts'

type Row = Readonly<Record<string, unknown>>
const listed = async ({ rest }: Fixture, query = ''): Promise<Row[]> =>
  (await rest.must('GET', `/v1/audit?limit=200${query}`))['data'] as Row[]
const actsOf = async (fixture: Fixture, query = ''): Promise<unknown[]> => (await listed(fixture, query)).map(({ act }) => act)

test('entries have a name and the changes, and contain no value that may be secret', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock } = fixture
  const id = await addDestination(rest, {
    credentials: { host: '127.0.0.1', port: 2600, security: 'none', username: 'u', password: 'hidden-one' },
  })
  const path = `/v1/destinations/${id}`
  for (const [method, at, body] of [
    ['PATCH', path, { name: 'Other', credentials: { password: 'hidden-two' } }],
    ['PATCH', path, { name: 'Other' }],
    ['POST', `${path}/promote-to-live`, undefined],
    ['DELETE', path, undefined],
  ] as const) {
    clock.advance(1) // ids of the same millisecond have no order
    await rest.must(method, at, body)
  }
  const rows = await listed(fixture, `&target=${id}`)
  t.deepEqual(
    columns(rows, 'act', 'details'),
    [
      ['destination.deleted', { name: 'Other' }],
      ['destination.set_live', { name: 'Other', changed: ['mode'], before: { mode: 'sandbox' }, after: { mode: 'live' } }],
      ['destination.updated', { name: 'Other', changed: ['name', 'secret'], before: { name: 'Host' }, after: { name: 'Other' } }],
      ['destination.created', { name: 'Host' }],
    ],
    'a change without effect makes no entry',
  )
  t.notRegex(JSON.stringify(await listed(fixture)), /hidden-/)
})

test('entries show non-secret values before and after, and the address of the caller', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const login = String((await rest.must('POST', '/v1/smtp-credentials', { label: 'Shop', max_rate_per_min: 10 }))['id'])
  await rest.must('PATCH', `/v1/smtp-credentials/${login}`, { max_rate_per_min: null, allowed_from_domains: ['site.test'] })
  await rest.must('POST', `/v1/smtp-credentials/${login}/rotate`)
  const hook = await rest.must('POST', '/v1/webhooks', { name: 'A', target_url: 'https://93.184.215.14/hidden-token' })
  await rest.must('PATCH', `/v1/webhooks/${String(hook['id'])}`, { name: 'B', target_url: 'https://93.184.215.14/hidden-other' })
  const rows = await listed(fixture)
  const detailsOf = (act: string): unknown => rows.find((row) => row['act'] === act)?.['details']
  t.like(detailsOf('smtp_credential.updated'), {
    before: { max_rate_per_min: 10, allowed_from_domains: [] },
    after: { max_rate_per_min: null, allowed_from_domains: ['site.test'] },
  })
  t.deepEqual(detailsOf('smtp_credential.rotated'), { name: 'Shop', changed: ['username', 'secret'] })
  t.like(detailsOf('webhook_endpoint.updated'), { changed: ['name', 'target_url'], before: { name: 'A' }, after: { name: 'B' } })
  t.notRegex(JSON.stringify(rows), /hidden-/)
  const made = rows.filter(({ actor }) => (actor as Row)['id'] === 'key_environment')
  t.true(made.length >= 5)
  for (const { address } of made) t.is(address, '127.0.0.1')
})

test('a refused request makes no audit entry', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const before = await listed(fixture)
  await rest.call('POST', '/v1/routing/rules', { match: '*', destination_id: 'dst_none' })
  await rest.call('DELETE', '/v1/api-keys/key_environment')
  await rest.call('POST', '/v1/suppressions', { email: 'none' })
  t.deepEqual(await listed(fixture), before)
})

test('an import makes one entry with its row count, or no entry without new rows', async (t) => {
  const fixture = await startFixture(t)
  const rows = Array.from({ length: 1200 }, (_, i) => ({ email: `a${i}@example.ch` }))
  await fixture.rest.must('POST', '/v1/suppressions/bulk-import', { rows })
  await fixture.rest.must('POST', '/v1/suppressions/bulk-import', { rows })
  t.like(await listed(fixture), { length: 1, 0: { act: 'suppression.imported', details: { rows: 1200 } } })
})

test('the list is filtered by actor, act, project and time', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock, addProject, withKey } = fixture
  const project = await addProject()
  const bound = await withKey(['api:admin'], project)
  const [key] = await listed(fixture, '&act=api_key.minted')
  clock.advance(1)
  await rest.must('POST', '/v1/suppressions', { email: 'gone@example.ch' })
  clock.advance(1000)
  const from = new Date(clock.now()).toISOString()
  await addDestination(bound)
  t.deepEqual(await actsOf(fixture, `&project=${project}`), ['destination.created', 'api_key.minted'])
  t.deepEqual(await actsOf(fixture, `&actor=${String(key?.['target'])}`), ['destination.created'])
  t.deepEqual(await actsOf(fixture, '&actor=key_environment'), ['suppression.added', 'api_key.minted'])
  t.deepEqual(await actsOf(fixture, '&act=suppression'), ['suppression.added'])
  t.deepEqual(await actsOf(fixture, '&act=suppression.removed'), [])
  t.deepEqual(await actsOf(fixture, `&since=${from}`), ['destination.created'])
  t.deepEqual(await actsOf(fixture, `&until=${from}`), ['suppression.added', 'api_key.minted'])
  const seen = (await bound.must('GET', '/v1/audit'))['data'] as Row[]
  t.deepEqual(column(seen, 'act'), ['destination.created', 'api_key.minted'], 'a project key sees entries of its project')
  t.is((await bound.call('GET', `/v1/audit?project=${String((await rest.must('GET', '/v1/projects/me'))['project_id'])}`)).status, 404)
  const page = await rest.must('GET', '/v1/audit?limit=1&act=suppression')
  t.like(page, { data: [{ act: 'suppression.added' }] })
  t.like(await rest.must('GET', `/v1/audit?limit=1&cursor=${String(page['next_cursor'])}`), { data: [{ act: 'api_key.minted' }] })
})

test('entries of a deleted project stay in the log of its organization', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const projectId = String((await rest.must('POST', '/v1/projects', { name: 'Gone' }))['id'])
  await rest.must('POST', '/v1/smtp-credentials', { project_id: projectId })
  await rest.must('DELETE', `/v1/projects/${projectId}`)
  const acts = (await listed(fixture)).filter((row) => row['project_id'] === projectId)
  t.true(column(acts, 'act').includes('smtp_credential.created'), JSON.stringify(acts))
})
