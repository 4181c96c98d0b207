/** Waiting and refusals in virtual time, with a thread that works for one caller at a time. */
import test from '#test'
import { Fairness } from '#core/fairness/fairness.ts'
import { ThreadMeter } from '#core/fairness/thread-meter.ts'
import { isTurnWaited } from '#core/fairness/turns.ts'
import type { Work } from '#core/fairness/work.ts'
import { Refusal } from '#core/refusals.ts'
import { FakeClock } from '../../support/fake-clock.ts'

/** Runs settled promises, and one caller that waits for a turn of the event loop. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Connections that repeat one request each. */
interface Client {
  readonly credential?: string
  readonly organization?: string
  readonly address: string
  readonly connections: number
  readonly costMs: number
  /** Milliseconds between a response and the next request. */
  readonly restMs: number
  /** Sends pieces of messages that have begun. */
  readonly isReading?: boolean
  /** Uses a token that needs no account. */
  readonly isAnybodys?: boolean
}

interface Served {
  answered: number
  refused: Refusal[]
  slowestMs: number
  usedMs: number
}

class Thread {
  readonly clock = new FakeClock()
  readonly fairness: Fairness
  readonly #ready: { readonly work: Work; readonly costMs: number; readonly done: () => void }[] = []

  constructor(lags = false) {
    this.fairness = new Fairness({ clock: this.clock, lags: () => lags })
  }

  /** Sends requests of all clients for this time. Returns the results of each client after the first two seconds. */
  async run(clients: readonly Client[], ms: number): Promise<readonly Served[]> {
    const all = clients.map((client) => ({ client, served: { answered: 0, refused: [], slowestMs: 0, usedMs: 0 } as Served }))
    const end = this.clock.monotonic() + ms
    const from = this.clock.monotonic() + 2000
    for (const { client, served } of all)
      for (let i = 0; i < client.connections; i++) this.clock.after(i % 7, () => this.#request(client, served, from))
    while (this.clock.monotonic() < end) {
      await settled()
      const next = this.#ready.shift()
      if (next === undefined) {
        if (isTurnWaited()) continue
        this.clock.advanceTo(Math.min(end, this.clock.nextTimer))
        continue
      }
      this.clock.advance(next.costMs)
      next.work.spend(next.costMs)
      next.done()
    }
    return all.map(({ served }) => served)
  }

  #request(client: Client, served: Served, from: number): void {
    const { credential, organization = 'org', address, costMs, restMs, isReading = false, isAnybodys = false } = client
    const startedAt = this.clock.monotonic()
    const work = this.fairness.begin({ address, kind: 'call', waits: isReading })
    const holder = isAnybodys ? ({ holder: { kind: 'anonymous' } } as const) : {}
    if (credential !== undefined) work.belongsTo({ credentialId: credential, organizationId: organization, ...holder })
    const again = (): void => void this.clock.after(Math.max(restMs, 1), () => this.#request(client, served, from))
    const done = (): void => {
      work.end()
      if (startedAt >= from) {
        served.answered++
        served.usedMs += costMs
        served.slowestMs = Math.max(served.slowestMs, this.clock.monotonic() - startedAt)
      }
      again()
    }
    const serve = (): void => void this.#ready.push({ work, costMs, done })
    const turn = isReading ? work.pace() : work.turn()
    if (!turn) return serve()
    void turn.then(serve, (error: unknown) => {
      work.end()
      if (startedAt >= from) served.refused.push(error as Refusal)
      again()
    })
  }
}

const tenant: Client = {
  credential: 'key_tenant',
  organization: 'org_tenant',
  address: '198.51.100.1',
  connections: 1,
  costMs: 1,
  restMs: 100,
}
const attacker: Client = {
  credential: 'key_attacker',
  organization: 'org_attacker',
  address: '203.0.113.9',
  connections: 40,
  costMs: 70,
  restMs: 1,
}

test('Fairness: 40 connections of one key get 429; a tenant below its share is served', async (t) => {
  const [calm, attacked] = await new Thread().run([tenant, attacker], 12_000)
  t.deepEqual(calm?.refused, [])
  t.true((calm?.answered ?? 0) > 60, `${calm?.answered} answers`)
  t.true((calm?.slowestMs ?? Infinity) <= 75, `slowest: ${calm?.slowestMs} ms`)
  const [first] = attacked?.refused ?? []
  t.true((attacked?.answered ?? 0) > 50, 'the attacker keeps its share')
  t.true((attacked?.usedMs ?? Infinity) <= 0.72 * 10_000, `the attacker used ${attacked?.usedMs} ms`)
  t.true((attacked?.refused.length ?? 0) > 20, `${attacked?.refused.length} refusals`)
  t.like(first, { code: 'rate_limit_exceeded', retryAfterSeconds: 1, details: { share_of: 'credential' } })
  t.regex(first?.message ?? '', /^The service is busy, and this key or client uses more than its share of it; send fewer requests/)
})

test('Fairness: reads 40 sessions of one login slowly, without refusals', async (t) => {
  const sessions = { ...attacker, costMs: 3, restMs: 0, isReading: true }
  const [calm, read] = await new Thread().run([tenant, sessions], 8000)
  t.deepEqual([calm?.refused, read?.refused], [[], []])
  t.true((calm?.slowestMs ?? Infinity) <= 20, `slowest: ${calm?.slowestMs} ms`)
  t.true((calm?.answered ?? 0) > 50, `${calm?.answered} answers`)
  const used = read?.usedMs ?? 0
  t.true(used > 0.4 * 6000 && used <= 0.72 * 6000, `the sessions used ${used} ms`)
})

test('Fairness: a caller below its share with long works is served after its wait', async (t) => {
  const slow = { ...tenant, credential: 'key_slow', connections: 4, costMs: 60, restMs: 400 }
  const [calm, served] = await new Thread().run([tenant, slow], 8000)
  t.deepEqual([calm?.refused, served?.refused], [[], []])
  t.true((served?.answered ?? 0) > 20, `${served?.answered} answers`)
})

test('Fairness: public tokens have a tenth of the weight of a key', async (t) => {
  const crowd = Array.from({ length: 12 }, (_, i): Client => ({
    ...attacker,
    ...{ credential: `token_${i}`, organization: `org_${i}`, address: `203.0.${i}.1`, connections: 4, isAnybodys: true },
  }))
  const busy = { ...tenant, connections: 2, costMs: 20, restMs: 100 }
  const [served, ...each] = await new Thread().run([busy, ...crowd], 10_000)
  t.deepEqual(served?.refused, [])
  t.true((served?.usedMs ?? 0) > 0.15 * 8000, `the tenant used ${served?.usedMs} ms`)
  t.true(each.every(({ answered }) => answered > 0))
})

test('Fairness: visitors of forty addresses with long works do not delay a tenant', async (t) => {
  const visitors = Array.from({ length: 40 }, (_, i) => ({ ...attacker, address: `203.0.113.${i}`, connections: 1, costMs: 180 }))
  const [served, ...crowd] = await new Thread().run([tenant, ...visitors.map(({ credential: _, ...visitor }) => visitor)], 30_000)
  t.deepEqual(served?.refused, [])
  t.true((served?.slowestMs ?? 0) < 500, `${served?.slowestMs} ms`)
  t.true(crowd.every(({ answered }) => answered > 0))
})

test('Fairness: measures works that end in the turn of the event loop they ran in', async (t) => {
  let now = 0
  using meter = new ThreadMeter(() => now)
  const fairness = new Fairness({ clock: new FakeClock(), meter })
  const works = ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4'].map((address) => fairness.begin({ address, kind: 'page' }))
  const [first, ...others] = works
  first?.run(() => {
    t.is(first.turn(), undefined)
    now += 40
    first.end()
  })
  for (const work of others) void work.turn()
  t.deepEqual(
    others.map(({ hasBegun }) => hasBegun),
    [true, true, false],
    'works of 40 ms each',
  )
})

test('Fairness: many keys of one organization do not delay another organization', async (t) => {
  const keys = Array.from({ length: 40 }, (_, i) => ({ ...attacker, credential: `key_${i}`, connections: 1, costMs: 180 }))
  const [served] = await new Thread().run([tenant, ...keys], 12_000)
  t.deepEqual(served?.refused, [])
  t.true((served?.slowestMs ?? 0) < 500, `${served?.slowestMs} ms`)
})

test('Fairness: works that wait for others delay their caller only briefly', async (t) => {
  const clock = new FakeClock()
  const fairness = new Fairness({ clock })
  const begin = () => {
    const work = fairness.begin({ address: '192.0.2.1', kind: 'call' })
    work.belongsTo({ credentialId: 'key_1', organizationId: 'org' })
    return work
  }
  const first = begin()
  t.is(first.turn(), undefined)
  first.spend(60)
  first.end()
  const [second, third] = [begin(), begin()]
  void second.turn()
  t.true(second.hasBegun)
  const turn = third.turn()
  t.false(third.hasBegun, 'more than 100 ms would be in progress')
  clock.advance(5000)
  await turn
  t.true(third.hasBegun)
  second.spend(60)
  const fourth = begin()
  void fourth.turn()
  t.false(fourth.hasBegun, 'the third is in progress')
})

test('Fairness: only large works wait for large works of their organization', async (t) => {
  const fairness = new Fairness({ clock: new FakeClock() })
  const begin = (credentialId: string) => {
    const work = fairness.begin({ address: '192.0.2.1', kind: `call of ${credentialId}` })
    work.belongsTo({ credentialId, organizationId: 'org' })
    void work.turn()
    return work
  }
  for (const [key, ms] of [['large', 300] as const, ['small', 2] as const]) {
    const work = begin(key)
    work.spend(ms)
    work.end()
  }
  t.true(begin('large').hasBegun)
  t.true(begin('small').hasBegun)
  t.false(begin('large').hasBegun, 'more than 100 ms would be in progress')
})

test('Fairness: a single caller is never refused', async (t) => {
  const [served] = await new Thread().run([{ ...attacker, connections: 20, costMs: 40 }], 6000)
  t.deepEqual(served?.refused, [])
  t.true((served?.usedMs ?? 0) > 3000, `used ${served?.usedMs} ms`)
})

test('Fairness: a leaked key does not affect other keys of its organization', async (t) => {
  const [other, leaked] = await new Thread().run([{ ...tenant, organization: attacker.organization ?? '' }, attacker], 8000)
  t.deepEqual(other?.refused, [])
  t.true((other?.slowestMs ?? Infinity) <= 75, `slowest: ${other?.slowestMs} ms`)
  t.true((leaked?.refused.length ?? 0) > 20)
})

test('Fairness: a key or anonymous client does not affect others at its address', async (t) => {
  const { credential: _, ...anonymous } = attacker
  const [keyed, nameless, neighbour] = await new Thread().run(
    [attacker, { ...anonymous, address: tenant.address }, { ...tenant, address: attacker.address }, tenant],
    8000,
  )
  t.deepEqual(neighbour?.refused, [])
  t.true((neighbour?.slowestMs ?? Infinity) <= 150, `slowest: ${neighbour?.slowestMs} ms`)
  t.true((keyed?.usedMs ?? Infinity) <= 0.72 * 6000, `the key used ${keyed?.usedMs} ms`)
  t.like(nameless?.refused[0], { details: { share_of: 'credential' } })
})

test('Fairness: many keys at one address are refused by address, and others are served', async (t) => {
  const crowd = Array.from({ length: 200 }, (_, i): Client => ({
    ...attacker,
    credential: `key_${i}`,
    organization: `org_${i}`,
    connections: 1,
    costMs: 20,
  }))
  const [other, ...each] = await new Thread().run([{ ...tenant, costMs: 2 }, ...crowd], 12_000)
  t.deepEqual(other?.refused, [])
  t.true(each.some(({ refused: [first] }) => first?.details?.['share_of'] === 'address'))
})

test('Fairness: keys behind a local proxy share no address', async (t) => {
  const crowd = Array.from({ length: 40 }, (_, i): Client => {
    return { ...attacker, address: '127.0.0.1', credential: `key_${i}`, organization: `org_${i}`, connections: 1, costMs: 20 }
  })
  const [other, ...each] = await new Thread().run([{ ...tenant, address: '127.0.0.1' }, ...crowd], 6000)
  t.deepEqual(other?.refused, [])
  t.false(each.some(({ refused }) => refused.some(({ details }) => details?.['share_of'] === 'address')))
})

test('Fairness: many keys at many addresses are refused by organization', async (t) => {
  const crowd = Array.from({ length: 200 }, (_, i): Client => ({
    ...attacker,
    credential: `key_${i}`,
    address: `203.0.${i}.1`,
    connections: 1,
    costMs: 20,
  }))
  const [other, ...each] = await new Thread().run([{ ...tenant, costMs: 2 }, ...crowd], 12_000)
  t.deepEqual(other?.refused, [])
  t.true(each.some(({ refused: [first] }) => first?.details?.['share_of'] === 'organization'))
})

test('Fairness: a late thread refuses callers above an even share, and serves others', async (t) => {
  const callers = Array.from({ length: 4 }, (_, i): Client => ({
    ...attacker,
    credential: `key_${i}`,
    organization: `org_${i}`,
    connections: 4,
    costMs: 20,
  }))
  const [light, ...heavy] = await new Thread(true).run([tenant, ...callers], 8000)
  t.deepEqual(light?.refused, [])
  t.true(heavy.every(({ answered }) => answered > 10))
})

test('Fairness: a publishable key is a separate caller per address', async (t) => {
  const fairness = new Fairness({ clock: new FakeClock() })
  const names = ['198.51.100.1', '198.51.100.2'].map((address) => {
    const work = fairness.begin({ address, kind: 'call' })
    work.belongsTo({ credentialId: 'key_1', organizationId: 'org', publishableToken: 'tok_1' })
    return work.callers.credential
  })
  t.deepEqual(names, ['key_1 198.51.100.1', 'key_1 198.51.100.2'])
  t.is(await fairness.begin({ address: '', kind: 'call' }).turn(), undefined)
})
