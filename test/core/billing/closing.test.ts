/** Closing of months: time, order and concurrency. `year.test.ts` checks the amounts. */
import test from '#test'
import { invoiceDocuments, invoicePartition, type InvoiceDocument } from '#core/billing/closing/invoice-document.ts'
import { invoicePayments } from '#core/billing/payment/payment.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { prices } from '#core/billing/price.ts'
import { usageCounter } from '#core/tenancy/counters.ts'
import { Change } from '#store/change.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'

const dayMs = 86_400_000
async function addOrganizations(fixture: CoreFixture, ids: readonly string[]): Promise<void> {
  const change = new Change()
  for (const id of ids)
    change.insert(organizations, id, { ...{ id, name: id, plan: 'free', defaultProjectId: projectId, createdAt: fixture.clock.now() } })
  await fixture.database.commit(change)
}

const documentsOf = async ({ database }: CoreFixture): Promise<InvoiceDocument[]> =>
  (await database.all(invoiceDocuments, { organizationId: invoicePartition })).map(({ record }) => record)

test('month close: concurrent runs create each invoice once, numbered consecutively', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  fixture.clock.step(Date.UTC(2030, 2, 1) - fixture.clock.now())
  await fixture.organization({ createdAt: fixture.clock.now() })
  await addOrganizations(fixture, ['org_2', 'org_3', 'org_4'])
  fixture.clock.step(31 * dayMs)
  const { closing } = fixture.part('billing')
  const all = await Promise.all(Array.from({ length: 4 }, () => closing.close('2030-03')))
  t.is(
    all.reduce((sum, { closed }) => sum + closed, 0),
    4,
  )
  const documents = await documentsOf(fixture)
  t.deepEqual(documents.map(({ number }) => number).toSorted(), ['2030-000001', '2030-000002', '2030-000003', '2030-000004'])
  t.is(new Set(documents.map((one) => one.organizationId)).size, 4)
})

test('closings during credit notes: each once, with consecutive numbers of both kinds', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  fixture.clock.step(Date.UTC(2030, 2, 1) - fixture.clock.now())
  await fixture.organization({ createdAt: fixture.clock.now() })
  await addOrganizations(fixture, ['org_2', 'org_3', 'org_4'])
  fixture.clock.step(31 * dayMs)
  const { closing, register } = fixture.part('billing')
  await closing.close('2030-03')
  const [one, two] = await documentsOf(fixture)
  const act = (what: Promise<unknown>) =>
    what.then(
      () => 'done',
      (error: Error) => error.message,
    )
  const outcomes = await Promise.all([
    ...[act(register.void(one?.id ?? '', 'wrong plan', true)), act(register.void(one?.id ?? '', 'wrong plan', true))],
    ...[act(closing.close('2030-03')), act(register.void(two?.id ?? '', 'twice', false)), act(closing.close('2030-03'))],
  ])
  t.deepEqual(outcomes.toSorted(), ['This invoice is already void.', 'done', 'done', 'done', 'done'])
  await closing.close('2030-03')
  const documents = await documentsOf(fixture)
  const numbers = (type: string) => documents.flatMap((document) => (document.type === type ? [document.number] : [])).toSorted()
  t.deepEqual(numbers('invoice'), ['2030-000001', '2030-000002', '2030-000003', '2030-000004', '2030-000005'])
  t.deepEqual(numbers('credit_note'), ['CN-2030-000001', 'CN-2030-000002'])
  const again = documents.filter(({ type, organizationId }) => type === 'invoice' && organizationId === one?.organizationId)
  t.is(again.length, 2, 'its month was reopened')
  await t.throwsAsync(register.void(documents.find(({ type }) => type === 'credit_note')?.id ?? '', 'x', false), { message: /credit note/ })
  await fixture.assertSound(t)
})

test('an organization that cannot be billed does not block others', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  const { clock, database } = fixture
  clock.step(Date.UTC(2030, 2, 1) - clock.now())
  await addOrganizations(fixture, ['org_2', 'org_3'])
  const price = { id: 'prc_1', axis: 'captures' as const, unitPriceUrp: 9e15, effectiveFrom: '2030-03', setAt: clock.now(), number: 0 }
  await database.commit(new Change().insert(prices, 'org_2', price).add(usageCounter('org_2', 'captures', '2030-03'), 2e9))
  clock.step(31 * dayMs)
  const { closing } = fixture.part('billing')
  await t.throwsAsync(closing.close('2030-03'), { message: 'the month 2030-03 of org_2 cannot be closed' })
  t.deepEqual((await documentsOf(fixture)).map((one) => one.organizationId).toSorted(), [organizationId, 'org_3'])
})

test('months close automatically six hours after their end, from the first month in use', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  const { clock } = fixture
  await fixture.organization({ plan: 'pro', createdAt: Date.UTC(2029, 0, 1) })
  const { upkeep } = fixture.part('billing')
  upkeep.start()
  const documents = async () => {
    await upkeep.idle()
    return (await documentsOf(fixture)).map(({ month, type }) => `${type} ${month}`)
  }
  t.deepEqual(await documents(), [])
  clock.advance(Date.UTC(2030, 1, 1) + 6 * 3_600_000 - 1 - clock.now())
  t.deepEqual(await documents(), [])
  clock.advance(1)
  upkeep.wake()
  t.deepEqual(await documents(), ['invoice 2030-01'])
  for (let i = 0; i < 3; i++) {
    clock.advance(31 * dayMs)
    await upkeep.idle()
  }
  t.deepEqual(await documents(), ['invoice 2030-01', 'invoice 2030-02', 'invoice 2030-03', 'invoice 2030-04'])
  await upkeep.stop()
  await t.throwsAsync(fixture.part('billing').closing.close('2030-05'), { message: /is not over/ })
})

test('removing an organization first bills its days, then deletes its counts', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  const { clock, database } = fixture
  clock.step(Date.UTC(2030, 2, 1) - clock.now())
  await addOrganizations(fixture, ['org_2'])
  await fixture.core.operator.setPlan('org_2', 'pro')
  const { closing } = fixture.part('billing')
  await closing.closeDue(() => false)
  clock.step(9 * dayMs)
  const stored = await database.get(organizations, { organizationId: 'org_2' }, 'org_2')
  if (stored) await database.commit(new Change().replace(organizations, 'org_2', stored, { ...stored.record, deletedAt: clock.now() }))
  await closing.closeRemoved('org_2')
  await closing.closeRemoved('org_2')
  const mine = (await documentsOf(fixture)).filter((one) => one.organizationId === 'org_2')
  t.is(mine.length, 1)
  t.like(mine[0]?.lines[0], { label: 'Plan pro, 10 of 31 days', quantity: 10, per: 31, amountRappen: 1581 })
})

test('verify: reports invoices with wrong sums, wrong numbers or missing records', async (t) => {
  const fixture = await coreFixture(t, { deaf: true, env: { POSTERN_VAT_BASIS_POINTS: '810' } })
  const { clock, database } = fixture
  clock.step(Date.UTC(2030, 2, 1) - clock.now())
  await fixture.organization({ plan: 'pro', createdAt: clock.now() })
  clock.step(31 * dayMs)
  const { closing, register } = fixture.part('billing')
  await closing.close('2030-03')
  const note = await register.void((await documentsOf(fixture))[0]?.id ?? '', 'wrong plan', false)
  await fixture.assertSound(t)
  const reach = { organizationId: invoicePartition }
  const damages: readonly (readonly [string, Partial<InvoiceDocument>, string])[] = [
    ['2030-000001', { vatRappen: -397 }, 'the invoice 2030-000001 does not add up'],
    ['2030-000001', { netRappen: 4901, totalRappen: 5298 }, 'the invoice 2030-000001 does not add up'],
    ['CN-2030-000001', { vatRappen: 397 }, 'the invoice CN-2030-000001 does not add up'],
    ['2030-000001', { number: '2030-000002' }, 'the number 2030-000002 was never assigned'],
    ['CN-2030-000001', { voids: note.document.id.replace(/.$/, 'x') }, 'the voided invoice of CN-2030-000001 is missing'],
  ]
  for (const [number, damage, problem] of damages) {
    const change = new Change()
    const stored = (await database.all(invoiceDocuments, reach)).find(({ record }) => record.number === number)
    if (stored) await database.commit(change.replace(invoiceDocuments, invoicePartition, stored, { ...stored.record, ...damage }))
    const [found = '', ...more] = await fixture.problems()
    t.true(found.endsWith(problem) && more.length === 0, `${JSON.stringify(damage)}: ${[found, ...more].join('; ')}`)
    const damaged = await database.get(invoiceDocuments, reach, stored?.record.id ?? '')
    if (stored && damaged) await database.commit(new Change().replace(invoiceDocuments, invoicePartition, damaged, stored.record))
  }
  const [payment] = await database.all(invoicePayments, reach)
  if (payment) await database.commit(new Change().remove(invoicePayments, invoicePartition, payment))
  t.regex((await fixture.problems()).join(), /the payment record of 2030-000001 is missing$/)
})
