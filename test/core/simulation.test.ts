/**
 * Random days of the send pipeline with submissions, unreliable providers, crashes, shutdowns and jumping clocks; the promises must hold
 * afterwards. The seed in the title determines everything.
 */
import test from '#test'
import { readAttempts } from '#core/trace/attempts.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import type { AttemptReport, RecipientReport } from '#core/delivery/transport.ts'
import { queuedParts } from '#store/queue.ts'
import { Seeded, seedOf } from '../support/seeded.ts'
import { coreFixture, organizationId, type CoreFixture } from './core-fixture.ts'
import { report, ScriptedTransport, type Call } from './scripted-transport.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const destinationIds = ['dst_1', 'dst_2', 'dst_3']

/** A provider accepted a recipient's copy. `replied`: we received its reply, and recorded it unless the process died first. */
interface Delivery {
  readonly era: number
  replied: boolean
}

class Simulation {
  readonly random: Seeded
  readonly ledger = new Map<string, Delivery[]>()
  readonly acknowledged = new Map<string, string>()
  readonly keys = new Map<string, string>()
  /** Final states of recipients. */
  readonly settled = new Map<string, string>()
  era = 0
  submissions = 0
  fixture!: CoreFixture

  constructor(seed: number) {
    this.random = new Seeded(seed)
  }

  /** The recipient and the number of attempts determine the provider's behavior. */
  readonly provider = async (call: Call): Promise<AttemptReport> => {
    const { era } = this
    const mood = this.random.branch(`${call.job.rcptTo.join()} ${call.nth}`)
    for (let mutex = mood.between(0, 6); mutex > 0; mutex--) await new Promise(setImmediate)
    if (call.job.signal.aborted) return report(call, 'transient', 'aborted')
    if (mood.chance(0.15)) return report(call, 'transient', 'connect_timeout')
    if (mood.chance(0.03)) throw new Error('planned defect')
    await call.job.beforeFinalDot()
    const verdicts = call.job.rcptTo.map((address): RecipientReport => {
      const verdict = mood.pick(['accepted', 'accepted', 'accepted', 'transient', 'permanent'] as const)
      return { address, verdict }
    })
    const taken = verdicts.flatMap(({ address, verdict }) => (verdict === 'accepted' ? [this.#record(address, era)] : []))
    for (let mutex = mood.between(0, 6); mutex > 0; mutex--) await new Promise(setImmediate)
    if (mood.chance(0.03)) throw new Error('planned defect')
    if (mood.chance(0.1)) return report(call, 'unknown', 'connection_lost')
    for (const delivery of taken) delivery.replied = true
    return { ...report(call, 'accepted'), recipients: verdicts }
  }

  #record(address: string, era: number): Delivery {
    const delivery = { era, replied: false }
    this.ledger.set(address, [...(this.ledger.get(address) ?? []), delivery])
    return delivery
  }

  submit(): void {
    const { random } = this
    const n = this.submissions++
    const key = random.chance(0.2) ? `key ${random.between(0, 5)}` : undefined
    const before = key === undefined ? undefined : this.keys.get(key)
    const known = this.fixture.clock.now()
    const rcptTo = Array.from({ length: random.between(1, 3) }, (_, i) => `m${n}.r${i}@example.net`)
    const content = `Subject: ${n}\r\n\r\n${'x'.repeat(random.chance(0.05) ? 400_000 : 500)}`
    const destinationId = random.pick(destinationIds)
    const accepted = this.fixture.submit({ rcptTo, content, destinationId, ...(key !== undefined && { idempotencyKey: key }) })
    const fixture = this.fixture
    void accepted.then(({ traceId, repeated }) => {
      if (fixture !== this.fixture) return
      if (!repeated) this.acknowledged.set(traceId, String(n))
      if (key === undefined) return
      if (before !== undefined && known - Number(before.split(' ')[1]) < day && before.split(' ')[0] !== traceId)
        this.faults.push(`${key} is ${traceId}, not ${before}`)
      if (!repeated) this.keys.set(key, `${traceId} ${known}`)
    })
  }
  readonly faults: string[] = []

  async step(): Promise<void> {
    const { random, fixture } = this
    const what = random.fraction()
    if (what < 0.45) for (let i = random.between(1, 6); i > 0; i--) this.submit()
    else if (what < 0.7) fixture.clock.advance(random.pick([10, 1000, minute, 10 * minute, hour]))
    else if (what < 0.78) await this.crash()
    else if (what < 0.82) fixture.clock.step(random.pick([-hour, -minute, minute, hour]))
    else if (what < 0.86) await this.restart()
    else for (let mutex = random.between(1, 20); mutex > 0; mutex--) await new Promise(setImmediate)
    if (random.chance(0.2)) await this.observe()
  }

  async crash(): Promise<void> {
    this.era++
    const dead = this.fixture
    this.fixture = await dead.crash()
    this.#takeErrors(dead)
    await this.fixture.queue.start()
  }

  /** Removes planned defects; others fail the test. */
  #takeErrors(fixture: CoreFixture): void {
    this.faults.push(
      ...fixture.errors
        .splice(0)
        .map(String)
        .filter((error) => !error.includes('planned defect')),
    )
  }

  async restart(): Promise<void> {
    const stopped = this.fixture.queue.stop(1000)
    if (this.random.chance(0.5)) this.fixture.clock.advance(1000)
    await Promise.race([stopped, this.fixture.settled()])
    await this.crash()
  }

  /** Checks that settled states do not change. */
  async observe(): Promise<Trace[]> {
    const all = (await this.fixture.database.all(traces, { organizationId })).map(({ record }) => record)
    for (const { id, recipients } of all) {
      for (const { address, status } of recipients) {
        const before = this.settled.get(address)
        if (before !== undefined && before !== status) this.faults.push(`${id}: ${address} was ${before} and is ${status}`)
        if (status !== 'queued') this.settled.set(address, status)
      }
    }
    return all
  }

  /** Advances time until everything has ended. */
  async finish(): Promise<void> {
    const { clock } = this.fixture
    for (let hours = 0; hours < 200; hours++) {
      await this.fixture.settled()
      if ((await queuedParts(this.fixture.database)).length === 0) return
      clock.advance(hour)
    }
    this.faults.push('the queue never becomes empty')
  }

  async audit(): Promise<string[]> {
    const { faults, fixture } = this
    const all = await this.observe()
    const byId = new Map(all.map((trace) => [trace.id, trace]))
    for (const [id, n] of this.acknowledged) if (!byId.has(id)) faults.push(`acknowledged message ${n} has no trace`)
    for (const trace of all) {
      if (trace.status !== 'sent' && trace.status !== 'failed') faults.push(`${trace.id} ended as ${trace.status}`)
      if (trace.nextAttemptAt !== null) faults.push(`${trace.id} still waits`)
      const attempts = await readAttempts(fixture.database, organizationId, trace)
      if (attempts.length !== trace.attempts) faults.push(`${trace.id} has ${attempts.length} attempts, and counts ${trace.attempts}`)
      if (attempts.some(({ state }) => state === 'started')) faults.push(`${trace.id} has an attempt without an end`)
      for (const recipient of trace.recipients) this.#auditRecipient(recipient)
    }
    if ((await fixture.queueLength()) !== 0) faults.push(`the length of the queue is ${await fixture.queueLength()}`)
    this.#takeErrors(fixture)
    return faults
  }

  #auditRecipient({ address, status }: Trace['recipients'][number]): void {
    const deliveries = this.ledger.get(address) ?? []
    if (status === 'sent' && deliveries.length === 0) this.faults.push(`${address} is sent, but the provider did not accept it`)
    if (status === 'failed' && deliveries.some(({ replied, era }) => replied && era === this.era))
      this.faults.push(`${address} failed, but the provider accepted it`)
    for (const [i, next] of deliveries.slice(1).entries()) {
      const earlier = deliveries[i]
      if (earlier?.replied && earlier.era === next.era) this.faults.push(`${address} was delivered twice in era ${next.era}`)
    }
  }
}

for (const seed of new Set([1, 2, 3, 4, seedOf(5)])) {
  test(`simulation: guarantees of the send pipeline hold on random day ${seed}`, async (t) => {
    const simulation = new Simulation(seed)
    const transport = new ScriptedTransport(simulation.provider)
    simulation.fixture = await coreFixture(t, {
      transport,
      random: () => simulation.random.fraction(),
      retry: { jitter: 0.2 },
      maxConnections: 6,
      maxReady: 3,
    })
    for (const [i, id] of destinationIds.entries())
      await simulation.fixture.destination({ id, maxConnections: i + 1, maxRatePerMin: i === 2 ? 600 : null })
    const isLong = (): boolean => simulation.acknowledged.size > 50 && simulation.era > 3
    for (let step = 0; step < 150 || (!isLong() && step < 1500); step++) await simulation.step()
    await simulation.finish()
    t.deepEqual(await simulation.audit(), [], `seed ${seed}`)
    t.true(isLong(), `seed ${seed}: ${simulation.acknowledged.size} messages, ${simulation.era} crashes`)
  })
}
