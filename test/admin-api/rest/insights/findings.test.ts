/** Findings by REST: filters, order, texts, marks, and the access of roles and keys. */
import test from '#test'
import { observed, type Observed } from '#core/findings/finding.ts'
import { column } from '../../../support/column.ts'
import { sessionOf } from '../fixture/sessions.ts'
import { errorOf, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { startOAuth } from '../../oauth/oauth-fixture.ts'
import { openFindings } from './finding-requests.ts'

type Row = Readonly<Record<string, unknown>>
const day = 86_400_000

const open = ({ daemon, organizationId }: Fixture, ...seen: readonly Observed[]): Promise<string[]> =>
  openFindings(daemon, organizationId, seen)
const listed = async ({ rest }: Pick<Fixture, 'rest'>, query = ''): Promise<Row[]> =>
  (await rest.must('GET', `/v1/findings?${query}`))['data'] as Row[]
const kinds = async (fixture: Pick<Fixture, 'rest'>, query?: string): Promise<unknown[]> => column(await listed(fixture, query), 'kind')
const projectOf = async ({ rest }: Fixture): Promise<string> => String((await rest.must('GET', '/v1/projects/me'))['project_id'])

test('findings are listed with their texts, errors first, and stay listed as over', async (t) => {
  const fixture = await startFixture(t)
  const { clock } = fixture
  const project = await projectOf(fixture)
  const parked = { ...observed('webhook.parked', 'whk_1', { count: 3, name: 'Order system' }, project), severity: 'warning' as const }
  await open(fixture, parked)
  clock.advance(1000)
  const [failing = ''] = await open(fixture, parked, observed('webhook.failing', 'whk_1', { name: 'Order system' }, project))
  const rows = await listed(fixture)
  t.deepEqual(column(rows, 'kind'), ['webhook.failing', 'webhook.parked'])
  t.like(rows[1], {
    ...{ id: failing, subject: 'whk_1', project_id: project, severity: 'warning', group: 'webhooks', state: 'open' },
    ...{ title: '3 events for Order system are parked', params: { count: 3, name: 'Order system' }, over_at: null, acknowledged: null },
    ...{ opened_at: new Date(clock.now() - 1000).toISOString(), muted_until: null },
  })
  t.deepEqual(await kinds(fixture, 'severity=error'), ['webhook.failing'])
  t.deepEqual(await kinds(fixture, 'group=webhooks&severity=warning'), ['webhook.parked'])
  t.deepEqual(await kinds(fixture, 'group=domains'), [])
  t.is((await fixture.rest.call('GET', '/v1/findings?severity=bad')).status, 400)
  clock.advance(1000)
  await open(fixture)
  t.deepEqual(await kinds(fixture), [])
  const over = await listed(fixture, 'state=over')
  t.deepEqual(column(over, 'over_at'), Array(2).fill(new Date(clock.now()).toISOString()))
})

test('a project shows its findings and those of the whole organization', async (t) => {
  const fixture = await startFixture(t)
  const [project, other] = [await projectOf(fixture), await fixture.addProject()]
  const [, foreign, shared] = await open(
    fixture,
    observed('mail.bounced', project, {}, project),
    observed('webhook.failing', 'whk_2', {}, other),
    observed('domain.spf', 'example.ch'),
    observed('quota.used', 'sends'),
  )
  t.deepEqual(await kinds(fixture, `project=${project}`), ['quota.used', 'domain.spf', 'mail.bounced'])
  t.is((await kinds(fixture)).length, 4)
  const bound = { rest: await fixture.withKey(['api:admin'], project) }
  t.deepEqual(await kinds(bound), ['domain.spf', 'mail.bounced'], 'limits of the organization need a key of the organization')
  t.is((await bound.rest.call('GET', `/v1/findings/${foreign ?? ''}`)).status, 404)
  const refused = await bound.rest.call('POST', `/v1/findings/${shared ?? ''}/acknowledge`)
  t.is(errorOf(refused).code, 'insufficient_scope')
})

test('findings for the operator alone are not shown', async (t) => {
  const fixture = await startFixture(t)
  const [id = ''] = await open(fixture, observed('backup.none', ''))
  t.deepEqual(await kinds(fixture), [])
  t.is((await fixture.rest.call('GET', `/v1/findings/${id}`)).status, 404)
  t.is((await fixture.rest.call('POST', `/v1/findings/${id}/acknowledge`)).status, 404)
})

test('the role billing reads limits and invoices only', async (t) => {
  const fixture = await startOAuth(t)
  const project = await projectOf(fixture)
  const seen = [
    observed('payment.overdue', 'inv_1'),
    observed('quota.used', project, {}, project),
    observed('mail.bounced', '', {}, project),
  ]
  const [payment, , bounced] = await open(fixture, ...seen)
  const cookie = await sessionOf(fixture, await fixture.addMember('billing@example.ch', 'billing'))
  const headers = { authorization: '', cookie, 'sec-fetch-site': 'same-origin' }
  const asked = async (path: string) => fixture.rest.call('GET', `/v1/findings${path}`, undefined, headers)
  t.deepEqual(column(((await asked('')).body as { data: Row[] }).data, 'kind'), ['quota.used', 'payment.overdue'])
  t.is((await asked(`/${payment ?? ''}`)).status, 200)
  t.is((await asked(`/${bounced ?? ''}`)).status, 404)
})

test('people acknowledge and mute a finding; each mark is in the audit log once', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock } = fixture
  const project = await projectOf(fixture)
  const [id = ''] = await open(fixture, observed('mail.bounced', project, {}, project))
  const path = `/v1/findings/${id}`
  const at = new Date(clock.now()).toISOString()
  t.like(await rest.must('POST', `${path}/acknowledge`), { acknowledged: { by: 'key_environment', at } })
  clock.advance(1000)
  t.like(await rest.must('POST', `${path}/acknowledge`), { acknowledged: { by: 'key_environment', at } })
  const until = new Date(clock.now() + 7 * day).toISOString()
  t.like(await rest.must('POST', `${path}/mute`, { until }), { muted_until: until })
  for (const wrong of [new Date(clock.now()).toISOString(), new Date(clock.now() + 31 * day).toISOString(), 'soon'])
    t.is((await rest.call('POST', `${path}/mute`, { until: wrong })).status, 400)
  t.like(await rest.must('POST', `${path}/mute`, { until: null }), { muted_until: null })
  const entries = (await rest.must('GET', `/v1/audit?target=${id}`))['data'] as Row[]
  t.deepEqual(column(entries, 'act').map(String).toSorted(), ['finding.acknowledged', 'finding.muted', 'finding.muted'])
})
