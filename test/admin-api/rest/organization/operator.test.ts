import test from '#test'
import { organizations } from '#core/tenancy/organization.ts'
import { readCsv } from '#ingest/rows/csv.ts'
import { Change } from '#store/change.ts'
import { errorOf, objectOf, operatorKey, startFixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'

const root = '/operator/v1/organizations'
const acts = [
  ['GET', ''],
  ['GET', '/usage'],
  ['GET', '/audit'],
  ['GET', '/invoice-preview'],
  ['PUT', '/plan', { plan: 'pro' }],
  ['PUT', '/overrides', { templates: 9 }],
  ['PUT', '/flags', { forms: false }],
  ['PUT', '/prices', { prices: [{ axis: 'captures', unit_price_urp: 1 }] }],
  ['PUT', '/payment-state', { payment_state: 'manual_ok' }],
] as const

test('operator API: refuses organization keys and wrong keys', async (t) => {
  const { rest, client, organizationId, operator } = await startFixture(t)
  const before = await operator.must('GET', `${root}/${organizationId}`)
  for (const one of [rest, client(''), client(`svcop_${'x'.repeat(43)}`), client(operatorKey.slice(0, -1))]) {
    for (const [method, path, body] of [...acts.map(([verb, end, sent]) => [verb, `${root}/${organizationId}${end}`, sent] as const)]) {
      const answer = await one.call(method, path, body)
      t.is(answer.status, 401, path)
      t.is(errorOf(answer).code, 'unauthorized')
    }
    for (const path of [root, '/operator/v1/invoices/export']) t.is((await one.call('GET', path)).status, 401, path)
  }
  t.deepEqual(await operator.must('GET', `${root}/${organizationId}`), before)
  t.is((await operator.call('GET', '/v1/usage')).status, 401, "the operator's key opens no organization either")
})

test('without an operator key, the operator API does not exist', async (t) => {
  const { operator, rest, organizationId } = await startFixture(t, { hasOperator: false })
  for (const one of [operator, rest])
    for (const [method, path, body] of acts) t.is((await one.call(method, `${root}/${organizationId}${path}`, body)).status, 404, path)
  const { paths } = (await rest.must('GET', '/openapi.json')) as { readonly paths: object }
  t.false(JSON.stringify(Object.keys(paths)).includes('/operator'))
})

test('organizations are listed in pages; an unknown one is not found', async (t) => {
  const { operator, organizationId, addOrganization } = await startFixture(t)
  const others = [await addOrganization('free'), await addOrganization('basic')]
  const rows = await Array.fromAsync(operator.rows(root, 1))
  const ids = [organizationId, ...others.map((one) => one.organizationId)]
  t.deepEqual(
    column(rows, 'id'),
    ids.toSorted((a, b) => (a < b ? -1 : 1)),
  )
  t.like(
    rows.find(({ id }) => id === others[0]?.organizationId),
    { name: 'Other', plan: 'free', payment_state: 'none' },
  )
  for (const [method, path, body] of acts)
    for (const id of ['org_nobody', 'prj_1', '%00'])
      t.is((await operator.call(method, `${root}/${id}${path}`, body)).status, 404, `${path} ${id}`)
})

test('plan, overrides, flags, prices and payment state are set, cleared and audited', async (t) => {
  const { operator, rest, organizationId, clock } = await startFixture(t, { plan: 'free' })
  const set = async (what: string, body: object) => {
    clock.advance(1000)
    return operator.must('PUT', `${root}/${organizationId}/${what}`, body)
  }
  await set('plan', { plan: 'basic' })
  await set('overrides', { sends_per_day: -1, smtp_credentials: 3, attachments: true })
  const account = await set('overrides', { smtp_credentials: null, retention_days: 400 })
  t.deepEqual(account['overrides'], { sends_per_day: -1, retention_days: 400, attachments: true })
  t.like(account['limits'], { sends_per_day: null, smtp_credentials: 10, retention_days: 400, attachments: true, team_organizations: 1 })
  await set('flags', { forms: false, verp: false })
  t.deepEqual((await set('flags', { forms: null }))['flags'], { verp: false })
  await set('payment-state', { payment_state: 'past_due' })
  await set('payment-state', { payment_state: 'past_due' })
  const priced = await set('prices', { prices: [{ axis: 'captures', unit_price_urp: 5, effective_from: '2030-03' }] })
  t.like((priced['prices'] as object[])[0], { axis: 'captures', unit_price_urp: 5, effective_from: '2030-03' })
  const entries = await Array.fromAsync(rest.rows('/v1/audit', 2))
  t.deepEqual(
    column(entries, 'act'),
    [
      'organization.price_set',
      'organization.payment_state_set',
      'organization.flags_set',
      'organization.flags_set',
      'organization.overrides_set',
      'organization.overrides_set',
      'organization.plan_set',
    ],
    'a change without effect makes no entry',
  )
  t.like(entries.at(-1), {
    actor: { kind: 'operator', id: '' },
    target: organizationId,
    project_id: null,
    details: { plan: 'basic' },
  })
  t.deepEqual(entries[2]?.['details'], { flags: { forms: null } })
})

test('invalid settings are refused with a message for each field', async (t) => {
  const { operator, organizationId } = await startFixture(t)
  const bodies = [
    ['plan', { plan: 'gold' }],
    ['plan', {}],
    ['overrides', { retention_days: 0 }],
    ['overrides', { sends_per_day: -2 }],
    ['overrides', { sends_per_day: 1.5 }],
    ['overrides', { attachments: 1 }],
    ['overrides', { unknown: 1 }],
    ['flags', { unknown: true }],
    ['flags', { forms: 'no' }],
    ['prices', { prices: [] }],
    ['prices', { prices: [{ axis: 'captures', unit_price_urp: -1 }] }],
    ['prices', { prices: [{ axis: 'captures', unit_price_urp: 1, effective_from: '2029-12' }] }],
    ['payment-state', { payment_state: 'paid' }],
  ] as const
  for (const [what, body] of bodies) {
    const answer = await operator.call('PUT', `${root}/${organizationId}/${what}`, body)
    t.is(answer.status, 400, `${what} ${JSON.stringify(body)}`)
  }
  t.like(await operator.must('GET', `${root}/${organizationId}`), { plan: 'enterprise', overrides: {}, flags: {}, prices: [] })
})

test('operator settings take effect from the next request', async (t) => {
  const { operator, rest, organizationId } = await startFixture(t, { plan: 'basic' })
  const send = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'x', text: 'x' }
  await operator.must('PUT', `${root}/${organizationId}/overrides`, { sends_per_day: 2 })
  const statuses = await Promise.all(Array.from({ length: 6 }, async () => (await rest.call('POST', '/v1/messages', send)).status))
  t.is(statuses.filter((status) => status === 200).length, 2)
  t.is(statuses.filter((status) => status === 429).length, 4)
  t.like(await rest.must('GET', '/v1/projects/me'), { sends_today: 2, sends_cap: 2 })
  await operator.must('PUT', `${root}/${organizationId}/plan`, { plan: 'enterprise' })
  await operator.must('PUT', `${root}/${organizationId}/overrides`, { sends_per_day: null })
  t.is((await rest.call('POST', '/v1/messages', send)).status, 200)
})

test('the invoice export has all organizations and escapes formulas', async (t) => {
  const { operator, organizationId, database, addOrganization } = await startFixture(t, { plan: 'basic' })
  const stored = await database.get(organizations, { organizationId }, organizationId)
  const name = '=HYPERLINK("http://evil.test";"x"),\r\n@b'
  await database.commit(new Change().replace(organizations, organizationId, stored!, { ...stored!.record, name }))
  const other = await addOrganization('pro')
  const csv = (await operator.call('GET', '/operator/v1/invoices/export')).bytes.toString('utf8')
  const cells = (await Array.fromAsync(readCsv(asBytes(csv)))).flat()
  t.deepEqual(cells[0]?.cells.slice(0, 3), ['organization_id', 'organization', 'axis'])
  t.is(cells[1]?.cells[1], `'${name}`)
  const sums = cells.filter(({ cells: row }) => row[2] === 'total').map(({ cells: row }) => [row[0], row.at(-1)] as const)
  t.deepEqual(
    Object.fromEntries(sums),
    Object.fromEntries([
      [organizationId, '1081'],
      [other.organizationId, '5297'],
    ]),
  )
  t.true(cells.every(({ cells: row }) => row.length === 10 && row.every((cell) => !/^[=+@\t\r-]/.test(cell))))
  const json = objectOf(await operator.call('GET', '/operator/v1/invoices/export?format=json&period=2030-01'))
  const invoices = json['data'] as { organization_id: string; total_rappen: number }[]
  t.deepEqual(Object.fromEntries(invoices.map((one) => [one.organization_id, String(one.total_rappen)])), Object.fromEntries(sums))
  t.is((await operator.call('GET', '/operator/v1/invoices/export?period=2030-02')).status, 400, 'a future month')
})

async function* asBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

test('q finds organizations by part of name or id; their log has operator entries', async (t) => {
  const { operator, organizationId, addOrganization } = await startFixture(t)
  const other = await addOrganization('free')
  const found = async (q: string) => column(await Array.fromAsync(operator.rows(`${root}?q=${q}`, 1)), 'id')
  t.deepEqual(await found('OTHER'), [other.organizationId])
  t.deepEqual(await found(organizationId.slice(8)), [organizationId])
  t.deepEqual(await found('zzz'), [])
  await operator.must('PUT', `${root}/${other.organizationId}/plan`, { plan: 'basic' })
  const [entry] = await Array.fromAsync(operator.rows(`${root}/${other.organizationId}/audit`, 5))
  t.like(entry, { act: 'organization.plan_set', actor: { kind: 'operator', id: '' }, details: { plan: 'basic' } })
})

test('the operator sees queued mail, paused destinations and free space', async (t) => {
  const { operator, rest } = await startFixture(t)
  const state = await operator.must('GET', '/operator/v1/system')
  t.like(state, { ready: true, reasons: [], queue: { waiting: 0, active: 0, oldest_due_at: null }, lanes: [], breakers: [] })
  const { free_bytes: free, total_bytes: total } = state['disk'] as Record<string, unknown>
  t.true(Number(free) > 0 && Number(total) >= Number(free))
  t.is(state['last_backup_at'], null)
  t.is((await rest.call('GET', '/operator/v1/system')).status, 401)
})
