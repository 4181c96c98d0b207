import test from '#test'
import { Audit } from '#core/writes/audit.ts'
import { readCsv } from '#ingest/rows/csv.ts'
import { Change } from '#store/change.ts'
import { errorOf, startFixture } from '../fixture/rest-fixture.ts'
import { column, columns } from '../../../support/column.ts'

const send = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'x', text: 'x' }

test('GET /v1/usage shows axes, projects and limits of this month and of others', async (t) => {
  const { rest, clock, addProject } = await startFixture(t, { plan: 'basic' })
  const second = await addProject()
  for (const project_id of [undefined, undefined, second])
    await rest.must('POST', '/v1/messages', { ...send, ...(project_id && { project_id }) })
  await rest.must('POST', '/v1/smtp-credentials', {})
  const usage = await rest.must('GET', '/v1/usage')
  t.like(usage, { period: '2030-01', from: '2030-01-01T00:00:00.000Z', until: '2030-02-01T00:00:00.000Z', plan: 'basic', sends: 3 })
  const axes = usage['axes'] as { axis: string; quantity: number }[]
  t.deepEqual(
    columns(
      axes.filter(({ quantity }) => quantity > 0),
      'axis',
      'quantity',
    ),
    [
      ['smtp_credentials', 1],
      ['captures', 3],
    ],
  )
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  t.deepEqual(usage['projects'], [
    { project_id, name: 'Default', sends: 2, smtp_messages: 0, captures: 2 },
    { project_id: second, name: 'Other', sends: 1, smtp_messages: 0, captures: 1 },
  ])
  t.deepEqual(usage['limits'], [
    { name: 'sends_today', used: 3, limit: 5000 },
    { name: 'traces_stored', used: 3, limit: 50_000 },
    { name: 'smtp_credentials', used: 1, limit: 10 },
    { name: 'templates', used: 0, limit: 3 },
    { name: 'form_submissions_today', used: 0, limit: 10_000 },
    { name: 'form_file_mebibytes', used: 0, limit: 1024 },
    { name: 'inbound_mebibytes', used: 0, limit: 2048 },
  ])
  clock.advance(31 * 86_400_000)
  t.like(await rest.must('GET', '/v1/usage'), { period: '2030-02', sends: 0 })
  t.like(await rest.must('GET', '/v1/usage?period=2030-01'), { period: '2030-01', sends: 3 })
  const later = await rest.call('GET', '/v1/usage?period=2030-03')
  t.is(later.status, 400)
  t.regex(errorOf(later).message, /^period: has not begun/)
})

test('GET /v1/billing/invoice-preview adds up, as JSON and as CSV', async (t) => {
  const { rest, operator, organizationId } = await startFixture(t, { plan: 'pro' })
  for (let i = 0; i < 3; i++) await rest.must('POST', '/v1/messages', send)
  const prices = [{ axis: 'captures', unit_price_urp: 1_500_000 }]
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/prices`, { prices })
  const invoice = await rest.must('GET', '/v1/billing/invoice-preview?period=2030-01')
  const lines = invoice['lines'] as { axis: string; amount_rappen: number }[]
  t.deepEqual(lines[0], {
    ...{ axis: 'monthly_fee', label: 'Plan pro', plan: 'pro', quantity: 1, included: 0, billable: 1 },
    ...{ unit_price_urp: 4_900_000_000, per: 1, amount_rappen: 4900, days: [], projects: [] },
  })
  t.like(
    lines.find(({ axis }) => axis === 'captures'),
    { quantity: 3, billable: 3, unit_price_urp: 1_500_000, amount_rappen: 5 },
  )
  t.like(invoice, { plan: 'pro', currency: 'CHF', net_rappen: 4905, vat_basis_points: 810, vat_rappen: 397, total_rappen: 5302 })
  t.is(
    lines.reduce((sum, line) => sum + line.amount_rappen, 0),
    4905,
  )
  const answer = await rest.call('GET', '/v1/billing/invoice-preview?format=csv')
  t.is(answer.headers['content-type'], 'text/csv; charset=utf-8')
  t.regex(answer.headers['content-disposition'] ?? '', /attachment; filename="invoice-preview-2030-01.csv"/)
  const rows = (await Array.fromAsync(readCsv(oneChunk(answer.bytes)))).flat()
  const amounts = rows.slice(1).flatMap(({ cells }) => (cells[7] === '' ? [] : [[cells[0], Number(cells[7])]])) // others explain an amount
  t.deepEqual(amounts, [...lines.map(({ axis, amount_rappen }) => [axis, amount_rappen]), ['net', 4905], ['vat', 397], ['total', 5302]])
})

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

test('usage and invoices are refused to other organizations and to project keys', async (t) => {
  const { rest, addOrganization, addProject, withKey } = await startFixture(t)
  await rest.must('POST', '/v1/messages', send)
  const other = await addOrganization()
  t.like(await other.rest.must('GET', '/v1/usage'), { sends: 0 })
  t.deepEqual((await other.rest.must('GET', '/v1/audit'))['data'], [])
  const bound = await withKey(['api:admin'], await addProject())
  for (const path of ['/v1/usage', '/v1/billing/invoice-preview']) {
    const answer = await bound.call('GET', path)
    t.is(answer.status, 403, path)
    t.is(errorOf(answer).code, 'insufficient_scope')
  }
})

test('the audit log needs an administrator; a project key sees entries of its project', async (t) => {
  const { operator, organizationId, withKey, addProject, database, clock } = await startFixture(t)
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { forms: false })
  t.is((await (await withKey(['api:send'])).call('GET', '/v1/audit')).status, 403)
  const project = await addProject()
  const change = new Change()
  const act = {
    organizationId,
    projectId: project,
    actor: { kind: 'api_key', id: 'key_1' },
    act: 'x.made',
    target: 'x_1',
    details: {},
  } as const
  new Audit({ database, clock }).record(change, act)
  await database.commit(change)
  const bound = await withKey(['api:admin'], project)
  const { data } = (await bound.must('GET', '/v1/audit?act=x')) as unknown as { readonly data: readonly { readonly act: string }[] }
  t.deepEqual(column(data, 'act'), ['x.made'])
})
