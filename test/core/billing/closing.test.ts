/** A year of plans, use and crashes, against a model that adds up day by day; and numbers without gaps whatever ends the process. */
import test, { type ExecutionContext } from 'ava'
import { plans, type PlanName } from '#config/plans/plans.ts'
import { billableAxes } from '#config/plans/prices.ts'
import { invoiceDocuments, invoicePartition, type InvoiceDocument } from '#core/billing/closing/invoice-document.ts'
import { graceMs } from '#core/billing/closing/closing.ts'
import { invoicePayments } from '#core/billing/payment/payment.ts'
import { recordPeakUsage } from '#core/plan/peak-usage.ts'
import { meter, organizationSendCounter } from '#core/tenancy/counters.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { Seeded } from '../../support/seeded.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'

const dayMs = 86_400_000
const planOf = ['free', 'basic', 'pro'] as const satisfies readonly PlanName[]
const events = ['inspect_tests', 'captures', 'team_orgs'] as const

const halfUp = (amount: bigint, parts: bigint): number => Number((2n * amount + parts) / (2n * parts))
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** One organization, as somebody would keep it in a notebook. */
class Notebook {
  readonly plansOf = new Map<string, PlanName[]>()
  readonly count = new Map<string, number>()
  plan: PlanName

  constructor(plan: PlanName) {
    this.plan = plan
  }

  onDay(day: string, plan = this.plan): void {
    this.plan = plan
    this.plansOf.set(day, [...(this.plansOf.get(day) ?? []), plan])
  }

  add(month: string, axis: string, quantity: number): void {
    this.count.set(`${month} ${axis}`, (this.count.get(`${month} ${axis}`) ?? 0) + quantity)
  }

  net(month: string): number {
    const days = [...this.plansOf].filter(([day]) => day.startsWith(month))
    const all = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate()
    const fee = (plan: PlanName): number => plans[plan].monthlyFeeRappen ?? 0
    const dearest = (of: readonly PlanName[]): PlanName => of.reduce((a, b) => (fee(b) > fee(a) ? b : a))
    let net = 0
    for (const plan of planOf) {
      const on = days.filter(([, of]) => dearest(of) === plan).length
      net += halfUp(BigInt(fee(plan)) * BigInt(on), BigInt(all))
    }
    for (const axis of events)
      net += halfUp(BigInt(this.count.get(`${month} ${axis}`) ?? 0) * BigInt(billableAxes[axis].unitPriceUrp), 1_000_000n)
    const peak = this.count.get(`${month} sources`) ?? 0
    return net + halfUp(BigInt(peak) * BigInt(billableAxes.sources.unitPriceUrp), 1_000_000n)
  }
}

async function addOrganizations(fixture: CoreFixture, ids: readonly string[]): Promise<void> {
  const change = new Change()
  for (const id of ids)
    change.insert(organizations, id, { ...{ id, name: id, plan: 'free', defaultProjectId: projectId, createdAt: fixture.clock.now() } })
  await fixture.database.commit(change)
}

/** Use of one organization on one day. */
async function useSomething(fixture: CoreFixture, id: string, random: Seeded, book: Notebook, alive: Map<string, number>): Promise<void> {
  const { database, clock } = fixture
  const month = dayOf(clock.now()).slice(0, 7)
  const change = new Change()
  for (const axis of events) {
    const times = random.between(0, 3)
    for (let i = 0; i < times; i++) meter(change, axis, id, projectId, clock.now())
    book.add(month, axis, times)
  }
  change.add(organizationSendCounter(id, dayOf(clock.now())), 1)
  const before = alive.get(id) ?? 0
  const after = Math.max(0, before + random.between(-1, 1))
  await recordPeakUsage({ database, change, organizationId: id }, 'sources', { before, after }, clock.now())
  alive.set(id, after)
  const peak = book.count.get(`${month} sources`) ?? before
  book.count.set(`${month} sources`, Math.max(peak, before, after))
  await database.commit(change)
}

/** Closes the month; the process ends at the write of this number. */
async function closeUntil(fixture: CoreFixture, month: string, lastWrite: number): Promise<CoreFixture | undefined> {
  const ended = Promise.withResolvers<'ended'>()
  let left = lastWrite
  fixture.kv.beforeWrite = () => {
    if (left-- !== 0) return
    void fixture.kv.cut()
    ended.resolve('ended')
  }
  const closing = fixture.part('billing').closing.close(month)
  const outcome = await Promise.race([closing, ended.promise])
  fixture.kv.beforeWrite = undefined
  return outcome === 'ended' ? fixture.crash() : undefined
}

const documentsOf = async ({ database }: CoreFixture): Promise<InvoiceDocument[]> =>
  (await database.all(invoiceDocuments, { organizationId: invoicePartition })).map(({ record }) => record)

test('a year of plans, use and crashes is billed as a notebook has it, to the rappen, once, and without gaps in the numbers', async (t) => {
  const random = new Seeded(11)
  let fixture = await coreFixture(t, { deaf: true, env: { POSTERN_VAT_BASIS_POINTS: '810' } })
  fixture.clock.step(Date.UTC(2030, 1, 1) - fixture.clock.now())
  await fixture.organization({ plan: 'free', createdAt: fixture.clock.now() })
  const ids = [organizationId, 'org_2', 'org_3']
  await addOrganizations(fixture, ids.slice(1))
  const books = new Map(ids.map((id) => [id, new Notebook('free')]))
  const alive = new Map<string, number>()
  const expected = new Map<string, number>()
  let crashes = 0
  for (let day = 0; day < 365; day++) {
    const today = dayOf(fixture.clock.now())
    fixture.clock.step(6 * 3_600_000)
    for (const [id, book] of books) {
      book.onDay(today)
      if (random.chance(0.03)) {
        const plan = planOf[random.between(0, 2)] ?? 'free'
        await fixture.core.operator.setPlan(id, plan)
        book.onDay(today, plan)
      }
      if (random.chance(0.15)) await useSomething(fixture, id, random, book, alive)
    }
    fixture.clock.step(18 * 3_600_000)
    const month = today.slice(0, 7)
    if (dayOf(fixture.clock.now()).startsWith(month)) continue
    for (const [id, book] of books) expected.set(`${id} ${month}`, book.net(month))
    for (let lives = random.between(0, 3); lives > 0; lives--) {
      const next = await closeUntil(fixture, month, random.between(0, 4))
      if (!next) break
      fixture = next
      crashes++
    }
    t.like(await fixture.part('billing').closing.close(month), { month, none: 0, isComplete: true })
    t.like(await fixture.part('billing').closing.close(month), { closed: 0, already: 3 }, 'again makes nothing')
  }
  t.true(crashes > 5, `${crashes} crashes`)
  const documents = await documentsOf(fixture)
  const billed = documents.map((one) => [`${one.organizationId} ${one.month}`, one.netRappen] as const)
  t.deepEqual(Object.fromEntries(billed), Object.fromEntries(expected))
  t.is(billed.length, 36)
  for (const one of documents) assertAddsUp(t, one)
  for (const year of ['2030', '2031']) {
    const numbers = documents
      .map(({ number }) => number)
      .filter((number) => number.startsWith(year))
      .toSorted()
    t.deepEqual(
      numbers,
      numbers.map((_, i) => `${year}-${String(i + 1).padStart(6, '0')}`),
    )
  }
  t.deepEqual(
    (await fixture.database.all(invoicePayments, { organizationId: invoicePartition })).filter(({ record }) => record.askedAt === null),
    [],
  )
  t.deepEqual(await fixture.problems(), [])
})

function assertAddsUp(t: ExecutionContext, { number, lines, netRappen, vatRappen, totalRappen }: InvoiceDocument): void {
  t.is(
    lines.reduce((sum, line) => sum + line.amountRappen, 0),
    netRappen,
    number,
  )
  t.is(halfUp(BigInt(netRappen) * 810n, 10_000n), vatRappen, number)
  t.is(netRappen + vatRappen, totalRappen, number)
  for (const { axis, quantity, days, projects } of lines) {
    if (!(events as readonly string[]).includes(axis)) continue
    t.is(
      days.reduce((sum, one) => sum + one.quantity, 0),
      quantity,
      `${number} ${axis} by day`,
    )
    if (projects.length > 0)
      t.is(
        projects.reduce((sum, one) => sum + one.quantity, 0),
        quantity,
        `${number} ${axis} by project`,
      )
  }
}

test('whoever closes a month at the same time makes each invoice once, with numbers in a row', async (t) => {
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

test('months are closed by themselves six hours after their end, from the first that the service saw', async (t) => {
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
  clock.advance(Date.UTC(2030, 1, 1) + graceMs - 1 - clock.now())
  t.deepEqual(await documents(), [])
  clock.advance(3_600_000)
  t.deepEqual(await documents(), ['invoice 2030-01'])
  for (let i = 0; i < 3; i++) {
    clock.advance(31 * dayMs)
    await upkeep.idle()
  }
  t.deepEqual(await documents(), ['invoice 2030-01', 'invoice 2030-02', 'invoice 2030-03', 'invoice 2030-04'])
  await upkeep.stop()
  await t.throwsAsync(fixture.part('billing').closing.close('2030-05'), { message: /is not over/ })
})

test('an organization that is removed is billed before its counts go, for the days on which it was there', async (t) => {
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
