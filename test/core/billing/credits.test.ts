/** A year of credits with all events, compared with a model without remainders, ledger and writes. */
import test, { type ExecutionContext } from '#test'
import type { PlanName } from '#config/plans/plans.ts'
import { creditEntries } from '#core/billing/credits/credit.ts'
import { creditUseWork } from '#core/billing/credits/credits.ts'
import { dayOf } from '#core/tenancy/counters.ts'
import { Change } from '#store/change.ts'
import { Seeded } from '../../support/seeded.ts'
import { coreFixture, organizationId, type CoreFixture } from '../core-fixture.ts'
import { assertSound, problemsOf } from '../../support/problems.ts'

const dayMs = 86_400_000
const gibibyte = 2 ** 30
const gibibyteMonth = BigInt(gibibyte) * 730n * 3_600_000n
/** Spec "Limits" 15: the price of a GiB sent, and of a GiB stored for 730 hours, in millionths of a credit. */
const prices = { traffic: { ucr: 10_000_000n, units: BigInt(gibibyte) }, storage: { ucr: 5_000_000n, units: gibibyteMonth } }
const allowances: Readonly<Record<PlanName, { readonly credits: number; readonly carriedMonths: number }>> = {
  ...{
    anonymous: { credits: 0, carriedMonths: 0 },
    free: { credits: 200, carriedMonths: 0 },
    enterprise: { credits: 0, carriedMonths: 0 },
  },
  ...{ basic: { credits: 800, carriedMonths: 6 }, pro: { credits: 4000, carriedMonths: 6 } },
}

interface ModelGrant {
  readonly rank: number
  readonly month: string | undefined
  readonly amount: number
  readonly expires: number
  left: number
}

/** Credits as the specification defines them. */
class Model {
  readonly grants: ModelGrant[] = []
  readonly used = { traffic: 0n, storage: 0n }
  owed = 0
  #seen = ''

  pass(plan: PlanName, now: number): void {
    for (const grant of this.grants) if (grant.expires <= now) grant.left = 0
    const { credits, carriedMonths } = allowances[plan]
    const present = new Date(now)
    for (let back = carriedMonths; back >= 0; back--) {
      const first = Date.UTC(present.getUTCFullYear(), present.getUTCMonth() - back, 1)
      const month = new Date(first).toISOString().slice(0, 7)
      if (back > 0 && (this.#seen === '' || month <= this.#seen)) continue
      const already = this.grants.reduce((sum, grant) => sum + (grant.month === month ? grant.amount : 0), 0)
      const start = new Date(first)
      const expires = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + carriedMonths + 1, 1)
      this.give(0, credits * 1_000_000 - already, expires, month)
    }
    this.#seen = present.toISOString().slice(0, 7)
  }

  give(rank: number, amount: number, expires: number, month?: string): void {
    if (amount <= 0) return
    const paid = Math.min(amount, this.owed)
    this.owed -= paid
    this.grants.push({ rank, month, amount, expires, left: amount - paid })
  }

  use(what: 'traffic' | 'storage', quantity: bigint): void {
    const { ucr, units } = prices[what]
    const before = (this.used[what] * ucr) / units
    this.used[what] += quantity
    let cost = Number((this.used[what] * ucr) / units - before)
    const order = this.grants
      .map((grant, age) => ({ grant, age }))
      .toSorted((a, b) => a.grant.rank - b.grant.rank || a.grant.expires - b.grant.expires || a.age - b.age)
    for (const { grant } of order) {
      const taken = Math.min(cost, grant.left)
      grant.left -= taken
      cost -= taken
    }
    this.owed += cost
  }

  get balance(): number {
    return this.grants.reduce((sum, { left }) => sum + left, -this.owed)
  }
}

/** Asserts that the entries add up to the balance, that use costs its exact sum by kind, and that no entry is missing. */
async function assertLedger(
  t: ExecutionContext,
  fixture: CoreFixture,
  model: Model,
  recorded: Readonly<Record<'traffic' | 'storage', bigint>>,
): Promise<void> {
  const entries = (await fixture.database.all(creditEntries, { organizationId })).map(({ record }) => record)
  t.is(
    entries.reduce((sum, { deltaUcr }) => sum + deltaUcr, 0),
    model.balance,
  )
  const places = entries.flatMap(({ siteId, day, reason, grantId }) =>
    siteId === undefined ? [] : [`${day} ${reason} ${siteId} ${grantId}`],
  )
  t.is(new Set(places).size, places.length, 'use of a day adds up in one line for each website and grant')
  for (const use of ['traffic', 'storage'] as const) {
    const of = entries.filter(({ reason }) => reason === use)
    t.is(
      of.reduce((sum, { quantity }) => sum + BigInt(quantity ?? 0), 0n),
      recorded[use],
      'to the byte',
    )
    const { ucr, units } = prices[use]
    t.is(
      of.reduce((sum, { deltaUcr }) => sum - BigInt(deltaUcr), 0n),
      (model.used[use] * ucr) / units,
      use,
    )
  }
}

for (const seed of [1, 2, 3])
  test(`credits: a random year with crashes equals the model exactly, seed ${seed}`, async (t) => {
    const random = new Seeded(seed)
    let fixture = await coreFixture(t, { deaf: true })
    const { clock } = fixture
    let plan: PlanName = 'free'
    await fixture.organization({ plan })
    const [model, recorded] = [new Model(), { traffic: 0n, storage: 0n }]
    for (let step = 0; step < 150; step++) {
      clock.step(random.between(0, 5 * dayMs))
      if (random.chance(0.02)) fixture = await fixture.crash()
      const { database } = fixture
      const { credits } = fixture.part('billing')
      model.pass(plan, clock.now())
      if (random.chance(0.1)) {
        plan = (['anonymous', 'free', 'basic', 'pro', 'enterprise'] as const)[random.between(0, 4)] ?? 'free'
        await fixture.core.operator.setPlan(organizationId, plan)
        model.pass(plan, clock.now())
      }
      if (random.chance(0.1)) {
        const kind = random.chance(0.5) ? 'operator' : 'purchased'
        const expiresAt = random.chance(0.3) ? clock.now() + random.between(1, 60) * dayMs : null
        const amountUcr = random.between(1, 900_000_000)
        await credits.give(organizationId, { kind, amountUcr, expiresAt, note: '' })
        model.give(kind === 'operator' ? 1 : 2, amountUcr, expiresAt ?? Infinity)
      }
      const isLarge = random.chance(0.2)
      const trafficBytes = random.between(0, isLarge ? 40 * gibibyte : 20_000_000)
      const storedByteMs = (gibibyteMonth * BigInt(random.between(0, isLarge ? 90_000_000 : 1000))) / 1_000_003n
      const used = { organizationId, siteId: random.chance(0.5) ? 'sit_1' : 'sit_2', trafficBytes, storedByteMs, untilMs: clock.now() }
      // A crash before the write changes nothing, and the same use is settled again.
      for (let lives = random.between(0, 2); lives > 0; lives--) await credits.settle(new Change(), used)
      const change = new Change()
      await credits.settle(change, used)
      t.true((await database.commit(change)).ok)
      if (plan !== 'enterprise') {
        model.use('traffic', BigInt(trafficBytes))
        model.use('storage', storedByteMs)
      }
      recorded.traffic += BigInt(trafficBytes)
      recorded.storage += storedByteMs
      if (random.chance(0.3)) await credits.refresh(organizationId)
      const state = await credits.of(organizationId)
      t.is(state.balanceUcr, model.balance, `step ${step}`)
      t.is(state.hasCredit, plan === 'enterprise' || model.balance > 0)
      t.deepEqual(
        state.grants.map(({ remainingUcr }) => remainingUcr).toSorted((a, b) => a - b),
        model.grants
          .map(({ left }) => left)
          .filter((left) => left > 0)
          .toSorted((a, b) => a - b),
        `step ${step}`,
      )
    }
    await fixture.part('billing').credits.refresh(organizationId)
    await assertLedger(t, fixture, model, recorded)
    await assertSound(t, fixture)
  })

test('use settled concurrently with a grant is charged once', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.organization({ plan: 'free' })
  const credits = fixture.part('billing').credits
  const used = { organizationId, siteId: 'sit_1', trafficBytes: gibibyte, storedByteMs: 0n, untilMs: fixture.clock.now() }
  const late = new Change()
  await credits.settle(late, used)
  await credits.give(organizationId, { kind: 'operator', amountUcr: 5_000_000, expiresAt: null, note: '' })
  t.false((await fixture.database.commit(late)).ok, 'its decision is outdated')
  const again = new Change()
  await credits.settle(again, used)
  t.true((await fixture.database.commit(again)).ok)
  t.is((await credits.of(organizationId)).balanceUcr, 195_000_000)
  await assertSound(t, fixture)
  const [entry] = await fixture.database.all(creditEntries, { organizationId })
  if (entry)
    await fixture.database.commit(
      new Change().rewrite(creditEntries, organizationId, entry, { ...entry.record, deltaUcr: entry.record.deltaUcr + 1 }),
    )
  const [problem = '', ...more] = await problemsOf(fixture)
  t.regex(problem, /the balance is 195000000 millionths of a credit, and the ledger adds up to 195000001/)
  t.deepEqual(more, [])
})

test('shares of 80, 95 and 100 % of the credits: reached at the exact micro-credit, and announced with each use', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.organization({ plan: 'free' })
  const { credits } = fixture.part('billing')
  let used = 0n
  /** Uses traffic until the total use is the given number of millionths of a credit. */
  const useUpTo = async (ucr: number): Promise<unknown> => {
    const bytes = (BigInt(ucr) * BigInt(gibibyte) + 9_999_999n) / 10_000_000n
    const change = new Change()
    const use = { organizationId, siteId: 'sit_1', trafficBytes: Number(bytes - used), storedByteMs: 0n, untilMs: fixture.clock.now() }
    await credits.settle(change, use)
    await fixture.database.commit(change)
    used = bytes
    const { alertPercent, hasCredit } = await credits.of(organizationId)
    return [alertPercent, change.work?.has(creditUseWork) ?? false, hasCredit]
  }
  t.deepEqual(await useUpTo(159_999_999), [0, false, true])
  t.deepEqual(await useUpTo(160_000_000), [80, true, true])
  t.deepEqual(await useUpTo(189_999_999), [80, true, true], 'announced again, because a crash can lose it')
  t.deepEqual(await useUpTo(190_000_000), [95, true, true])
  t.deepEqual(await useUpTo(199_999_999), [95, true, true])
  t.deepEqual(await useUpTo(200_000_000), [100, true, false])
  t.deepEqual(await useUpTo(230_000_000), [100, true, false])
  await credits.give(organizationId, { kind: 'purchased', amountUcr: 50_000_000, expiresAt: null, note: '' })
  t.like(await credits.of(organizationId), { alertPercent: 0, balanceUcr: 20_000_000, hasCredit: true })
  t.deepEqual(await useUpTo(249_000_000), [95, true, true], 'of the amount after the debt; only the highest')
})

test('alerts: percentages ignore expired credits', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.organization({ plan: 'free' })
  const { credits } = fixture.part('billing')
  const expiresAt = fixture.clock.now() + dayMs
  await credits.give(organizationId, { kind: 'operator', amountUcr: 100_000_000, expiresAt, note: '' })
  const percentAfter = async (gibibytes: number): Promise<number> => {
    const change = new Change()
    const use = { organizationId, siteId: 'sit_1', trafficBytes: gibibytes * gibibyte, storedByteMs: 0n, untilMs: fixture.clock.now() }
    await credits.settle(change, use)
    await fixture.database.commit(change)
    return (await credits.of(organizationId)).alertPercent
  }
  t.is(await percentAfter(10), 0, '100 of 300')
  fixture.clock.step(3 * dayMs)
  t.is(await percentAfter(5), 0, '150 of 200')
  t.is(await percentAfter(1), 80, '160 of 200')
  t.is(await percentAfter(3), 95, '190 of 200')
  const entries = (await fixture.database.all(creditEntries, { organizationId })).map(({ record }) => record)
  const expired = entries.filter(({ reason }) => reason === 'expire').map(({ day, deltaUcr }) => [day, deltaUcr])
  t.deepEqual(expired, [[dayOf(expiresAt), -100_000_000]], 'with the day of expiry')
})

test('alerts: an organization without credits gets no alert', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.organization({ plan: 'anonymous' })
  const { credits } = fixture.part('billing')
  const change = new Change()
  await credits.settle(change, { organizationId, siteId: 'sit_1', trafficBytes: gibibyte, storedByteMs: 0n, untilMs: fixture.clock.now() })
  await fixture.database.commit(change)
  t.like(await credits.of(organizationId), { balanceUcr: -10_000_000, alertPercent: 0 })
})

test('monthly credits last to the end of the month, carried ones to the end of the sixth', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  const { credits } = fixture.part('billing')
  const at = async (ms: number): Promise<readonly string[]> => {
    fixture.clock.step(ms - fixture.clock.now())
    await credits.refresh(organizationId)
    return (await credits.of(organizationId)).grants.map(({ period, remainingUcr }) => `${period} ${remainingUcr / 1_000_000}`)
  }
  await fixture.organization({ plan: 'free' })
  t.deepEqual(await at(Date.UTC(2030, 1, 1) - 1), ['2030-01 200'])
  t.deepEqual(await at(Date.UTC(2030, 1, 1)), ['2030-02 200'])
  await fixture.organization({ plan: 'basic' })
  t.deepEqual(await at(Date.UTC(2030, 1, 1) + 1), ['2030-02 200', '2030-02 600'], 'a larger plan adds the difference')
  t.deepEqual(
    (await at(Date.UTC(2030, 8, 1) - 1)).map((grant) => grant.slice(0, 7)),
    ['2030-02', '2030-03', '2030-04', '2030-05', '2030-06', '2030-07', '2030-08'],
  )
  t.is((await at(Date.UTC(2030, 8, 1)))[0], '2030-03 800')
})
