/** Quick checks of two daemons with one database: one finding for each problem, and a breaker's finding until its daemon has left. */
import type { HealthRegistry, BreakerView } from '#core/delivery/health/health-registry.ts'
import { findings, type Finding } from '#core/findings/finding.ts'
import { Settle } from '#core/findings/settle.ts'
import { countAttempt } from '#core/insights/count.ts'
import { destinations } from '#core/routing/destination.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { Looks } from '#core/watch/look.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { coreOf } from '../../core/core-of.ts'
import { destinationDefaults, organizationId, projectDefaults, projectId } from '../../core/records.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { testWith } from '../../support/peers/peers.ts'
import { databasesOf } from '../../support/peers/postgresql.ts'
import { waitFor } from '../../support/waits.ts'

const test = testWith('postgresql')
const postgresql = databasesOf(test)
const project = { organizationId, projectId }
const error = { code: 'connect_refused', message: 'refused' }

const closed: BreakerView = { phase: 'closed', since: null, reason: null, cause: null, until: null }
const open: BreakerView = { ...closed, phase: 'open', since: 1, cause: { code: 'faults_in_row', failed: 5, attempts: 5, error }, until: 2 }

/** The quick checks of one daemon. The test sets its breaker. */
class Place {
  readonly store: PostgresKv
  readonly database: Database
  readonly #looks: Looks
  breaker = closed

  constructor(store: PostgresKv, clock: FakeClock) {
    this.store = store
    this.database = new Database(store, store.daemons)
    const { database } = this
    const isRunning = (id: string): boolean => id === database.daemons.id || database.daemons.isRunning(id)
    const health: Pick<HealthRegistry, 'login' | 'breaker'> = { login: () => undefined, breaker: () => this.breaker }
    const core = coreOf(database, clock)
    this.#looks = new Looks({ ...core, settle: new Settle({ database, clock, isRunning }), health, probe: () => undefined })
  }

  get id(): string {
    return this.database.daemons.id
  }

  async look(): Promise<void> {
    await this.#looks.look(organizationId, new Set([projectId]))
  }

  async findings(): Promise<readonly Finding[]> {
    return (await this.database.all(findings, { organizationId })).map(({ record }) => record)
  }

  async find(kind: string): Promise<Finding | undefined> {
    return (await this.findings()).find((one) => one.kind === kind)
  }
}

async function fill({ database }: Place): Promise<void> {
  const change = new Change()
  const organization = { id: organizationId, name: 'Acme', plan: 'enterprise' as const, defaultProjectId: projectId, createdAt: 0 }
  change.insert(organizations, organizationId, organization)
  change.insert(projects, organizationId, projectDefaults)
  change.insert(destinations, organizationId, destinationDefaults)
  if (!(await database.commit(change)).ok) throw new Error('the records are there already')
}

/** Counts five failed attempts. */
async function fail({ database }: Place, now: number): Promise<void> {
  const change = new Change()
  const results = { taken: [], failed: ['a@example.net'], deferred: [], isRetry: false, isError: true, timings: {} }
  for (let n = 0; n < 5; n++) countAttempt(change, project, { destinationId: destinationDefaults.id, ...results }, now)
  await database.commit(change)
}

test('watch: two daemons store one finding, and the one that leaves takes its breaker with it', async (t) => {
  const address = await postgresql().database()
  const clock = new FakeClock()
  const [first, second] = [await PostgresKv.open(address, { use: 'together' }), await PostgresKv.open(address, { use: 'together' })]
  t.teardown(() => second[Symbol.asyncDispose]())
  const [one, two] = [new Place(first, clock), new Place(second, clock)]
  const knows = (place: Place, { id }: Place): boolean => place.database.daemons.isRunning(id)
  await waitFor('the daemons notice each other', () => knows(one, two) && knows(two, one))
  await fill(one)
  one.breaker = open
  await fail(one, clock.now())
  const seen = async (): Promise<string[]> =>
    (await two.findings()).map(({ id, kind, state, openedAt, changedAt }) => [id, kind, state, openedAt, changedAt].join(' ')).toSorted()
  await Promise.all([one.look(), two.look(), one.look(), two.look()])
  const before = await seen()
  const kinds = (await two.findings()).map(({ kind }) => kind)
  t.deepEqual(kinds.toSorted(), ['destination.failing', 'destination.resting', 'mail.all_failing', 'mail.failed'])
  t.is((await two.find('destination.resting'))?.daemon, one.id)

  for (let round = 0; round < 20; round++) {
    clock.advance(30_000)
    await Promise.all(round % 2 === 0 ? [one.look(), two.look()] : [two.look(), one.look()])
    t.deepEqual(await seen(), before, `round ${round}`)
  }

  await first[Symbol.asyncDispose]()
  await waitFor('the other daemon notices', () => !knows(two, one))
  await two.look()
  t.is((await two.find('destination.resting'))?.state, 'over')
  t.is((await two.find('mail.all_failing'))?.state, 'open', 'counts show it to each daemon')
})
