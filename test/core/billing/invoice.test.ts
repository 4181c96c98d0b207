import test from '#test'
import { axisNames, billableAxes } from '#config/plans/prices.ts'
import { invoiceLine, totals } from '#core/billing/invoice-line.ts'
import { priceIn, type Price } from '#core/billing/price.ts'
import { sharesOf } from '#core/billing/explained/shares.ts'
import { Seeded } from '../../support/seeded.ts'

test('prices equal those of the specification', (t) => {
  const rappen = (axis: keyof typeof billableAxes): number => billableAxes[axis].unitPriceUrp / 1_000_000
  t.deepEqual(
    (['sources', 'inspect_tests', 'traces_stored', 'smtp_credentials', 'team_orgs'] as const).map(rappen),
    [350, 10, 0.1, 100, 50],
  )
  t.is(invoiceLine('traces_stored', '', { quantity: 1000, included: 0, unitPriceUrp: 100_000 }).amountRappen, 100, '0.001 CHF a trace')
})

test('an amount is rounded half up to whole rappen', (t) => {
  const amount = (quantity: number, unitPriceUrp: number) =>
    invoiceLine('captures', '', { quantity, included: 0, unitPriceUrp }).amountRappen
  t.deepEqual([amount(4, 100_000), amount(5, 100_000), amount(14, 100_000), amount(15, 100_000)], [0, 1, 1, 2])
  t.is(amount(1, 499_999), 0)
  t.is(amount(3, 500_000), 2)
})

test('included volume is not billed', (t) => {
  const line = (quantity: number) => invoiceLine('smtp_credentials', '', { quantity, included: 10, unitPriceUrp: 100_000_000 })
  t.like(line(10), { quantity: 10, included: 10, billable: 0, amountRappen: 0 })
  t.like(line(12), { billable: 2, amountRappen: 200 })
})

test('lines, net, VAT and total are whole and add up for all quantities and prices', (t) => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = new Seeded(seed)
    const lines = axisNames.slice(0, random.between(1, axisNames.length)).map((axis) =>
      invoiceLine(axis, '', {
        quantity: random.between(0, random.chance(0.3) ? 1_000_000_000 : 5000),
        included: random.between(0, 3000),
        unitPriceUrp: random.between(0, random.chance(0.5) ? 2_000_000 : 400_000_000),
      }),
    )
    const vatBasisPoints = random.between(0, 2500)
    const { netRappen, vatRappen, totalRappen } = totals(lines, vatBasisPoints)
    const where = `seed ${seed}`
    t.is(
      lines.reduce((sum, { amountRappen }) => sum + BigInt(amountRappen), 0n),
      BigInt(netRappen),
      where,
    )
    t.is(totalRappen, netRappen + vatRappen, where)
    for (const { amountRappen, billable, unitPriceUrp } of lines) {
      const off = 2n * (BigInt(amountRappen) * 1_000_000n - BigInt(billable) * BigInt(unitPriceUrp))
      t.true(Number.isSafeInteger(amountRappen) && off > -1_000_000n && off <= 1_000_000n, where)
    }
    const off = 2n * (BigInt(vatRappen) * 10_000n - BigInt(netRappen) * BigInt(vatBasisPoints))
    t.true(Number.isSafeInteger(vatRappen) && off > -10_000n && off <= 10_000n, where)
  }
})

test('a price applies from its month; for one month the latest price applies', (t) => {
  const price = (number: number, effectiveFrom: string, unitPriceUrp: number): Price => ({
    id: `prc_${9 - number}`,
    number,
    axis: 'captures',
    unitPriceUrp,
    effectiveFrom,
    setAt: 0,
  })
  const own = [price(3, '2026-03', 33), price(1, '2026-01', 11), price(2, '2026-03', 22)]
  const of = (month: string) => priceIn(month, 'captures', 'pro', own)
  t.deepEqual([of('2025-12'), of('2026-01'), of('2026-02'), of('2026-03'), of('2027-01')], [0, 11, 11, 33, 33])
})

test('plan enterprise has individual prices or no price', (t) => {
  t.is(priceIn('2026-01', 'sources', 'enterprise', []), 0)
  t.is(priceIn('2026-01', 'sources', 'pro', []), 350_000_000)
  t.is(
    priceIn('2026-01', 'sources', 'enterprise', [
      { id: 'prc_1', axis: 'sources', unitPriceUrp: 5, effectiveFrom: '2026-01', setAt: 0, number: 0 },
    ]),
    5,
  )
})

test('shares add up to the whole, are as near to their weights as integers allow, and never exceed them', (t) => {
  t.deepEqual(sharesOf(10, [1, 1, 1]), [4, 3, 3])
  t.deepEqual(sharesOf(5, [0, 90, 10]), [0, 5, 0])
  t.deepEqual(sharesOf(0, [3, 4]), [0, 0])
  for (let seed = 1; seed <= 300; seed++) {
    const random = new Seeded(seed)
    const weights = Array.from({ length: random.between(1, 30) }, () => random.between(0, random.chance(0.3) ? 2 ** 40 : 200))
    const all = weights.reduce((sum, weight) => sum + weight, 1)
    weights.push(1)
    const total = random.between(0, all)
    const shares = sharesOf(total, weights)
    t.is(
      shares.reduce((sum, share) => sum + share, 0),
      total,
      `seed ${seed}`,
    )
    for (const [i, share] of shares.entries()) {
      const weight = weights[i] ?? 0
      t.true(share >= 0 && share <= weight && Math.abs(share - (total / all) * weight) < 1.001, `seed ${seed}`)
    }
  }
})
