import { createHash } from 'node:crypto'
import test, { type ExecutionContext } from '#test'
import { readCsv } from '#ingest/rows/csv.ts'
import { errorOf, startFixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'
import type { RestClient } from '../../../support/daemon/rest.ts'

const root = '/operator/v1/invoices'
const send = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'x', text: 'x' }
type Row = Readonly<Record<string, unknown>>

test('a month is closed once; its invoice is listed, read, printed, paid, and credited', async (t) => {
  const settings = { POSTERN_INVOICE_ISSUER: 'Example AG; Bahnhofstrasse 1; 8001 Zürich; CHE-123.456.788 MWST' }
  const { rest, operator, organizationId, clock, addOrganization, addProject, withKey } = await startFixture(t, { plan: 'pro', settings })
  const other = await addOrganization('free')
  const own = `/operator/v1/organizations/${organizationId}`
  for (let i = 0; i < 3; i++) await rest.must('POST', '/v1/messages', send)
  await rest.must('POST', '/v1/smtp-credentials', {})
  await rest.must('POST', '/v1/ingest-sources', { provider: 'stalwart' })
  await operator.must('PUT', `${own}/prices`, { prices: [{ axis: 'captures', unit_price_urp: 1_500_000 }] })
  const recipient = ['<b>Shop</b> & Söhne', 'Postfach', '3000 Bern']
  await operator.must('PUT', `${own}/billing-profile`, { recipient, reference: 'PO 7', vat_basis_points: 260 })
  t.like(await operator.must('GET', `${own}/billing-profile`), { recipient, reference: 'PO 7', vat_number: '', vat_basis_points: 260 })
  const early = await operator.call('POST', `${root}/close`, { period: '2030-01' })
  t.regex(errorOf(early).message, /^period: is not over; it can be closed from 2030-02-01/)
  clock.advance(31 * 86_400_000)
  const preview = await rest.must('GET', '/v1/billing/invoice-preview?period=2030-01')
  t.deepEqual(await operator.must('POST', `${root}/close`, { period: '2030-01' }), closed({ closed: 2 }))
  t.deepEqual(await operator.must('POST', `${root}/close`, { period: '2030-01' }), closed({ already: 2 }))
  const [listed, ...more] = (await rest.must('GET', '/v1/billing/invoices'))['data'] as Row[]
  t.is(more.length, 0)
  t.like(listed, { period: '2030-01', plan: 'pro', state: 'open', net_rappen: 5255, vat_rappen: 137, total_rappen: 5392 })
  t.like(listed, { issued_at: '2030-02-01T00:00:00.000Z', due_at: '2030-03-03T00:00:00.000Z' })
  const path = `/v1/billing/invoices/${String(listed?.['id'])}`
  const invoice = await rest.must('GET', path)
  t.deepEqual(invoice['lines'], preview['lines'], 'equal to the preview')
  t.like(invoice, { recipient, reference: 'PO 7', issuer: ['Example AG', 'Bahnhofstrasse 1', '8001 Zürich', 'CHE-123.456.788 MWST'] })
  const captures = (invoice['lines'] as Row[]).find(({ axis }) => axis === 'captures')
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  t.like(captures, { days: [{ day: '2030-01-01', quantity: 3 }], projects: [{ project_id, name: 'Default', quantity: 3 }] })

  await assertForms(t, rest, path, invoice['lines'] as Row[])

  t.is((await other.rest.call('GET', path)).status, 404)
  t.is(errorOf(await (await withKey(['api:admin'], await addProject())).call('GET', path)).code, 'insufficient_scope')
  const [theirs] = (await other.rest.must('GET', '/v1/billing/invoices'))['data'] as Row[]
  t.like(theirs, { state: 'settled', total_rappen: 0 })
  t.is(errorOf(await operator.call('PUT', `${root}/${String(theirs?.['id'])}/payment`, { state: 'paid' })).code, 'conflict')

  const mine = `${root}/${String(listed?.['id'])}`
  const marked = await operator.must('PUT', `${mine}/payment`, { state: 'paid', remark: 'by bank, 3 February' })
  t.is(marked['state'], 'paid')
  t.like((marked['remarks'] as Row[])[0], { state: 'paid', remark: 'by bank, 3 February' })
  const note = await operator.must('POST', `${mine}/void`, { reason: 'wrong plan', reopen: true })
  const facts = { voids: listed?.['id'], state: null, due_at: null, reason: 'wrong plan' }
  t.like(note, { type: 'credit_note', number: 'CN-2030-000001', ...facts })
  await assertTakesBack(t, rest, note, invoice)
  t.like(await rest.must('GET', path), { state: 'void', number: listed?.['number'], total_rappen: 5392 })
  t.is(errorOf(await operator.call('POST', `${mine}/void`, { reason: 'again' })).code, 'conflict')
  t.is(errorOf(await operator.call('POST', `${root}/${String(note['id'])}/void`, { reason: 'again' })).code, 'conflict')
  t.deepEqual(await operator.must('POST', `${root}/close`, { period: '2030-01' }), closed({ closed: 1, already: 1 }))
  const all = (await operator.must('GET', `${root}?period=2030-01`))['data'] as Row[]
  t.deepEqual(
    all.map(({ number }) => number),
    ['CN-2030-000001', '2030-000001', '2030-000002', '2030-000003'],
  )
  const file = await operator.call('GET', `${root}/export?period=2030-01&of=final&format=json`)
  t.deepEqual(
    (JSON.parse(file.bytes.toString()) as { data: Row[] }).data.map(({ number }) => number),
    all.map(({ number }) => number),
  )
  const sheet = (await operator.call('GET', `${root}/export?period=2030-01&of=final&format=csv`)).bytes.toString()
  t.regex(sheet, /"CN-2030-000001",.*"total","Total",,,,,,-5392\r\n/)
  const log = (await rest.must('GET', '/v1/audit?limit=20'))['data'] as { act: string }[]
  for (const act of ['billing_profile.set', 'invoice.marked', 'invoice.voided']) t.true(column(log, 'act').includes(act), act)
})

test('closing a month: no invoice for a month without the organization', async (t) => {
  const { rest, operator, clock } = await startFixture(t, { plan: 'pro' })
  clock.advance(10 * 86_400_000)
  const { id } = await rest.must('POST', '/v1/organizations', { name: 'Bakery' })
  const team = `/operator/v1/organizations/${String(id)}`
  await operator.must('PUT', `${team}/plan`, { plan: 'pro' })
  clock.advance(20 * 86_400_000)
  await rest.must('DELETE', `/v1/organizations/${String(id)}`)
  clock.advance(29 * 86_400_000) // March begins, and the organization is removed a day later
  for (const period of ['2029-12', '2030-01', '2030-02']) await operator.must('POST', `${root}/close`, { period })
  const billed = (await operator.must('GET', `${team}/invoices`))['data'] as Row[]
  t.deepEqual(
    billed.map(({ period, net_rappen }) => [period, net_rappen]),
    [['2030-01', 3319]],
    '21 of 31 days of 49 francs',
  )
})

/** Asserts that the amounts of the credit note and of its invoice add up to zero, in every format. */
async function assertTakesBack(t: ExecutionContext, rest: RestClient, note: Row, invoice: Row): Promise<void> {
  const amounts = ({ net_rappen, vat_rappen, total_rappen, lines }: Row) => ({
    ...{ net_rappen, vat_rappen, total_rappen },
    lines: column(lines as Row[], 'amount_rappen'),
  })
  t.like(amounts(invoice), { net_rappen: 5255, vat_rappen: 137, total_rappen: 5392 })
  t.like(amounts(note), { net_rappen: -5255, vat_rappen: -137, total_rappen: -5392 })
  t.deepEqual(
    amounts(note).lines.map((amount) => 0 - Number(amount)),
    amounts(invoice).lines,
  )
  const as = async (format: string) => (await rest.call('GET', `/v1/billing/invoices/${String(note['id'])}?format=${format}`)).bytes
  const printed = (await as('html')).toString()
  for (const amount of ['-52.55', '-1.37', '-53.92']) t.true(printed.includes(`<td>${amount}</td>`), amount)
  const [header = [], ...cells] = (await Array.fromAsync(readCsv(oneChunk(await as('csv'))))).flat().map((row) => row.cells)
  const sums = cells.slice(-3).map((row) => row[header.indexOf('amount_rappen')])
  t.deepEqual(sums, ['-5255', '-137', '-5392'], 'spreadsheets read numbers')
}

/** Asserts that the CSV file matches the lines: each line is followed by the projects and days that add up to it. */
function assertExplained(t: ExecutionContext, rows: readonly { readonly cells: readonly string[] }[], lines: readonly Row[]): void {
  const [header = [], ...cells] = rows.map((row) => row.cells)
  const table = cells.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] ?? ''])))
  for (const { axis, quantity, projects, days } of lines) {
    const parts = table.filter((row) => row['axis'] === axis && row['amount_rappen'] === '')
    const sum = (of: typeof parts): number => of.reduce((total, row) => total + Number(row['quantity']), 0)
    t.is(parts.length, (projects as Row[]).length + (days as Row[]).length, String(axis))
    if (axis === 'monthly_fee' || quantity === 0) continue
    t.is(sum(parts.filter(({ project }) => project !== '')), quantity as number, `${String(axis)} by project`)
    if (axis !== 'traces_stored') t.is(sum(parts.filter(({ day }) => day !== '')), quantity as number, `${String(axis)} by day`)
  }
  t.is(table.find(({ axis, project }) => axis === 'smtp_credentials' && project !== '')?.['project'], 'Default')
  t.is(table.find(({ axis, project }) => axis === 'sources' && project !== '')?.['project'], 'The whole organization')
}

async function assertForms(t: ExecutionContext, rest: RestClient, path: string, lines: readonly Row[]): Promise<void> {
  const rows = (await Array.fromAsync(readCsv(oneChunk((await rest.call('GET', `${path}?format=csv`)).bytes)))).flat()
  t.deepEqual(rows.at(-1)?.cells, ['total', 'Total', '', '', '', '', '', '5392', '', '', ''])
  assertExplained(t, rows, lines)
  await assertPrintable(t, await rest.call('GET', `${path}?format=html`))
  await assertSpoken(t, rest, path)
}

/** Asserts the language: of the address, else of the browser. */
async function assertSpoken(t: ExecutionContext, rest: RestClient, path: string): Promise<void> {
  const printed = async (query: string, accepted = '') =>
    (await rest.call('GET', `${path}?format=html${query}`, undefined, { 'accept-language': accepted })).bytes.toString()
  for (const texts of [
    'lang="de"',
    'Rechnung 2030-000',
    '1. Januar 2030 bis 31. Januar 2030 (UTC)',
    'Abgefangene Nachrichten',
    'MwSt. 2,60 %',
    'offen',
  ])
    t.true((await printed('&lang=de')).includes(texts), texts)
  for (const texts of ['lang="fr"', 'Forfait pro', 'Messages capturés', 'Par projet'])
    t.true((await printed('', 'fr-CH, de;q=0.8')).includes(texts), texts)
  t.true((await printed('&lang=it', 'fr')).includes('Messaggi catturati'), 'the language in the URL has priority')
  t.true((await printed('', 'ja')).includes('Captured messages'))
  t.is(errorOf(await rest.call('GET', `${path}?format=html&lang=ja`)).code, 'validation_failed')
}

const closed = (counts: object) => ({ period: '2030-01', closed: 0, already: 0, none: 0, is_complete: true, ...counts })

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Asserts a page without scripts and external resources, with tenant names as text and only the style that the policy allows. */
async function assertPrintable(
  t: Parameters<typeof startFixture>[0] & {
    readonly true: (value: boolean, message?: string) => unknown
    readonly is: (a: unknown, b: unknown) => unknown
  },
  page: { readonly status: number; readonly bytes: Buffer; readonly headers: Readonly<Record<string, unknown>> },
): Promise<void> {
  t.is(page.status, 200)
  const text = page.bytes.toString()
  const policy = String(page.headers['content-security-policy'])
  t.true(text.includes('&lt;b&gt;Shop&lt;/b&gt; &amp; Söhne') && !text.includes('<b>'), 'escaped')
  t.true(!/<script|<link|<img|url\(|https?:/.test(text), 'no external resources')
  const style = /<style>([^]*)<\/style>/.exec(text)?.[1] ?? ''
  t.true(
    policy.startsWith("default-src 'none';") && policy.includes(`'sha256-${createHash('sha256').update(style).digest('base64')}'`),
    policy,
  )
  for (const texts of [
    '2030-000',
    'PO 7',
    'CHE-123.456.788 MWST',
    '52.55',
    '1.37',
    '53.92',
    'VAT 2.60 %',
    '1 January 2030 to 31 January 2030',
  ])
    t.true(text.includes(texts), texts)
}
