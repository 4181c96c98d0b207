/** A year of plans, prices, use and crashes, compared with an independent day-by-day calculation. */
import test, { type ExecutionContext } from '#test'
import { invoiceDocuments, invoicePartition, type InvoiceDocument } from '#core/billing/closing/invoice-document.ts'
import { invoicePayments } from '#core/billing/payment/payment.ts'
import { largestOf, ofNoProject, type Held } from '#core/plan/by-project.ts'
import { recordPeakUsage } from '#core/plan/peak-usage.ts'
import { meter, organizationSendCounter, sendCounter, storedTracesKey } from '#core/tenancy/counters.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { Change, encode } from '#store/change.ts'
import { Seeded } from '../../support/seeded.ts'
import { coreFixture, organizationId, projectDefaults, projectId, type CoreFixture } from '../core-fixture.ts'
import { Notebook, type NotedPlan } from './notebook.ts'

const hourMs = 3_600_000
const plans = ['free', 'free', 'free', 'basic', 'pro', 'enterprise'] as const satisfies readonly NotedPlan[]
const events = ['inspect_tests', 'captures', 'team_orgs', 'vi_notifies'] as const
const projectIds = [projectId, 'prj_2'] as const
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const held = (byProject: readonly number[]): Held => ({
  count: sum(byProject),
  projects: largestOf(projectIds.map((id, i) => [id, byProject[i] ?? 0])),
})
const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0)
const nextMonth = (month: string): string => dayOf(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1)).slice(0, 7)

interface Year {
  fixture: CoreFixture
  readonly random: Seeded
  readonly books: ReadonlyMap<string, Notebook>
  crashes: number
}

/** Runs `act` in a process that ends at the write of the given number. Returns whether it ended there. */
async function endsAt(year: Year, write: number, act: () => Promise<unknown>): Promise<boolean> {
  const { fixture } = year
  const ended = Promise.withResolvers<'ended'>()
  let left = write
  fixture.kv.beforeWrite = () => {
    if (left-- !== 0) return
    void fixture.kv.cut()
    ended.resolve('ended')
  }
  const outcome = await Promise.race([act(), ended.promise])
  fixture.kv.beforeWrite = undefined
  if (outcome !== 'ended') return false
  year.fixture = await fixture.crash()
  year.crashes++
  return true
}

/** Sets another plan, and repeats it if the process ended before the write. Returns the current plan. */
async function setPlan(year: Year, id: string): Promise<NotedPlan> {
  const plan = plans[year.random.between(0, plans.length - 1)] ?? 'free'
  if (year.random.chance(0.2)) await endsAt(year, year.random.between(0, 2), () => year.fixture.core.operator.setPlan(id, plan))
  await year.fixture.core.operator.setPlan(id, plan)
  return plan
}

async function useSomething({ fixture, random }: Year, id: string, book: Notebook): Promise<void> {
  const { database, clock } = fixture
  const day = dayOf(clock.now())
  const change = new Change()
  for (const axis of events) {
    const times = random.between(0, 3)
    for (let i = 0; i < times; i++) meter(change, axis, id, projectIds[i % 2], clock.now())
    book.today.events.set(axis, (book.today.events.get(axis) ?? 0) + times)
  }
  for (const [i, project] of projectIds.entries()) {
    const sends = random.between(0, random.chance(0.2) ? 4000 : 120)
    change.add(organizationSendCounter(id, day), sends).add(sendCounter(id, project, day), sends)
    book.today.sends[i] = (book.today.sends[i] ?? 0) + sends
  }
  if (random.chance(0.3)) {
    book.today.stored = projectIds.map(() => random.between(0, 2000))
    const { count, projects: parts } = held(book.today.stored)
    change.set(storedTracesKey(id, day), encode([count, parts]))
  }
  for (const axis of ['sources', 'smtp_credentials'] as const) {
    const before = book.alive.get(axis) ?? [0, 0]
    const after = before.map((alive) => Math.max(0, alive + random.between(-1, 1)))
    const alive =
      axis === 'sources'
        ? { before: ofNoProject(sum(before)), after: ofNoProject(sum(after)) }
        : { before: held(before), after: held(after) }
    await recordPeakUsage({ database, change, organizationId: id }, axis, alive, clock.now())
    book.keeps(axis, after)
  }
  await database.commit(change)
}

async function setPrice({ fixture, random }: Year, id: string, book: Notebook): Promise<void> {
  const month = dayOf(fixture.clock.now()).slice(0, 7)
  const axis = (['sends_overage', 'captures', 'traces_stored', 'smtp_credentials'] as const)[random.between(0, 3)] ?? 'captures'
  const price = { axis, urp: random.between(0, 3_000_000), from: random.chance(0.5) ? month : nextMonth(month) }
  await fixture.core.operator.setPrices(id, [{ axis, unitPriceUrp: price.urp, effectiveFrom: price.from }])
  book.own.push(price)
  book.own.sort((a, b) => (a.from < b.from ? -1 : Number(a.from > b.from))) // prices of the same month keep their order
}

async function aDay(year: Year): Promise<void> {
  const { random, books } = year
  const { clock } = year.fixture
  const today = dayOf(clock.now())
  for (const [id, book] of books) book.begin(today, random.chance(0.04) ? await setPlan(year, id) : book.plan)
  clock.step(6 * hourMs)
  for (const [id, book] of books) {
    if (random.chance(0.15)) await useSomething(year, id, book)
    if (random.chance(0.04)) book.change(await setPlan(year, id))
    if (random.chance(0.02)) await setPrice(year, id, book)
  }
  clock.step(18 * hourMs)
}

async function startYear(t: ExecutionContext): Promise<Year> {
  const fixture = await coreFixture(t, { deaf: true, env: { POSTERN_VAT_BASIS_POINTS: '810' } })
  fixture.clock.step(Date.UTC(2031, 6, 1) - fixture.clock.now())
  await fixture.organization({ plan: 'free', createdAt: fixture.clock.now() })
  const change = new Change()
  const added = { plan: 'free' as const, defaultProjectId: projectId, createdAt: fixture.clock.now() }
  for (const id of ['org_2', 'org_3']) change.insert(organizations, id, { id, name: id, ...added })
  for (const id of ['org_2', 'org_3']) change.insert(projects, id, { ...projectDefaults, id: projectId })
  for (const id of [organizationId, 'org_2', 'org_3']) change.insert(projects, id, { ...projectDefaults, id: 'prj_2', name: 'Second' })
  await fixture.database.commit(change)
  const books = new Map([organizationId, 'org_2', 'org_3'].map((id) => [id, new Notebook()]))
  await fixture.part('billing').profiles.change('org_3', { vatBasisPoints: 260 })
  const third = books.get('org_3')
  if (third) third.vatBasisPoints = 260
  return { fixture, random: new Seeded(21), books, crashes: 0 }
}

test('a year of plans, prices, use and crashes is billed exactly, with consecutive numbers', async (t) => {
  const year = await startYear(t)
  const { clock } = year.fixture
  const months = new Set<string>()
  for (let day = 0; day < 366; day++) {
    const month = dayOf(clock.now()).slice(0, 7)
    await aDay(year)
    if (dayOf(clock.now()).startsWith(month)) continue
    months.add(month)
    const close = () => year.fixture.part('billing').closing.close(month)
    for (let lives = year.random.between(0, 3); lives > 0; lives--) if (!(await endsAt(year, year.random.between(0, 4), close))) break
    t.like(await close(), { month, none: 0, isComplete: true })
    t.like(await close(), { closed: 0, already: 3 }, 'a second closing makes no invoice')
  }
  t.true(year.crashes > 10, `${year.crashes} crashes`)
  const reach = { organizationId: invoicePartition }
  const documents = (await year.fixture.database.all(invoiceDocuments, reach)).map(({ record }) => record)
  t.is(months.size, 12)
  t.is(documents.length, 36)
  for (const one of documents) assertAsNoted(t, one, year.books.get(one.organizationId) ?? new Notebook())
  for (const [issued, count] of [
    ['2031', 15],
    ['2032', 21],
  ] as const)
    t.deepEqual(
      documents.flatMap(({ number }) => (number.startsWith(issued) ? [number] : [])).toSorted(),
      Array.from({ length: count }, (_, i) => `${issued}-${String(i + 1).padStart(6, '0')}`),
    )
  const payments = await year.fixture.database.all(invoicePayments, reach)
  t.deepEqual(
    payments.filter(({ record }) => record.askedAt === null),
    [],
  )
  await year.fixture.assertSound(t)
})

function assertAsNoted(t: ExecutionContext, invoice: InvoiceDocument, book: Notebook): void {
  const { number, month, lines, netRappen, vatRappen, totalRappen } = invoice
  const where = `${number} of ${invoice.organizationId} in ${month}`
  const { net, vat } = book.total(month)
  const billed = lines.map(({ axis, label, amountRappen }) => [
    axis === 'monthly_fee' ? `fee ${label.split(/[ ,]/)[1]}` : axis,
    amountRappen,
  ])
  t.deepEqual(
    Object.fromEntries(billed.filter(([, amount]) => amount !== 0)),
    Object.fromEntries([...book.lines(month)].filter(([, amount]) => amount !== 0)),
    where,
  )
  t.deepEqual([netRappen, vatRappen, totalRappen], [net, vat, net + vat], where)
  const all = (parts: readonly { readonly quantity: number }[]): number => sum(parts.map(({ quantity }) => quantity))
  const ofMonth = book.days.filter(({ date }) => date.startsWith(month))
  for (const { axis, quantity, per, days, projects: parts } of lines) {
    if (axis === 'monthly_fee') t.is(all(days), per > 1 ? quantity : 0, `${where}: days of the fee`)
    else if (axis === 'traces_stored') t.is(Math.round(all(days) / ofMonth.length), quantity, `${where}: the average of the days`)
    else t.is(all(days), quantity, `${where}: ${axis} by day`)
    if (axis !== 'monthly_fee') t.is(all(parts), quantity, `${where}: ${axis} by project`)
  }
  const of = (axis: string, project: string | null): number =>
    lines.find((line) => line.axis === axis)?.projects.find(({ projectId: id }) => id === project)?.quantity ?? 0
  t.is(of('sources', null), sum(book.most(month, 'sources')), `${where}: sources belong to no project`)
  for (const [i, id] of projectIds.entries()) {
    t.is(of('smtp_credentials', id), book.most(month, 'smtp_credentials')[i] ?? 0, `${where}: logins of ${id}`)
    const stored = sum(ofMonth.map((day) => day.stored[i] ?? 0)) / ofMonth.length
    t.true(
      Math.abs(of('traces_stored', id) - stored) < 1,
      `${where}: ${of('traces_stored', id)} traces of ${id}, ${stored} in the notebook`,
    )
  }
  for (const { day, quantity } of lines.find(({ axis }) => axis === 'sends_overage')?.days ?? []) {
    const noted = book.days.find(({ date }) => date === day)
    t.is(noted && book.beyond(noted), quantity, `${where}: overage on ${day}`)
  }
}
