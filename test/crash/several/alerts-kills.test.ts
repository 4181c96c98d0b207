/** Two daemons with one database tell the same findings, and are killed at random writes: one delivery for each message and channel. */
import type { ExecutionContext } from 'ava'
import { alertChannels, membersChannel, targetContext } from '#core/alerts/channels/alert-channel.ts'
import { ChannelBook } from '#core/alerts/channel-book.ts'
import { noTarget } from '#core/alerts/channels/channel-target.ts'
import { AlertNotifier } from '#core/alerts/notifier.ts'
import { findings, observed } from '#core/findings/finding.ts'
import { Settle } from '#core/findings/settle.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { coreOf } from '../../core/core-of.ts'
import { organizationId, projectDefaults, projectId } from '../../core/records.ts'
import { CuttableKv } from '../../support/cuttable-kv.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { testWith } from '../../support/peers/peers.ts'
import { anyDatabases } from '../../support/peers/postgresql.ts'
import { Seeded, seedOf } from '../../support/seeded.ts'

const kills = 50
const channelIds = ['alc_1', 'alc_2', 'alc_3']
const second = 1000

/** The alerts of one daemon. */
class Place {
  readonly kv: CuttableKv
  readonly database: Database
  readonly settle: Settle
  readonly notifier: AlertNotifier

  constructor(store: PostgresKv, clock: FakeClock, errors: unknown[]) {
    this.kv = new CuttableKv(store)
    this.database = new Database(this.kv)
    const core = coreOf(this.database, clock)
    const book = new ChannelBook({ ...core, operator: [] })
    this.settle = new Settle({
      ...core,
      onChanged: (change, organization, changed) => book.findingsChanged(change, organization, changed),
    })
    const mail = {
      isReady: () => Promise.resolve(false),
      fateOf: () => Promise.resolve(undefined),
      urlOf: (path: string) => `https://post.example.ch${path}`,
    }
    const outbox = { add: () => Promise.resolve(undefined), wake: () => undefined }
    this.notifier = new AlertNotifier({ ...core, book, settle: this.settle, mail, outbox, onError: (error) => void errors.push(error) })
  }

  /** Kills the daemon at a later write, before the write or after it. */
  killAt(writes: number, isAfter: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let left = writes
    this.kv.beforeWrite = () => {
      left--
      if (left > 0) return
      this.kv.beforeWrite = undefined
      const cut = (): Promise<void> => this.kv.cut().then(resolve)
      if (!isAfter) return cut()
      setImmediate(() => void cut()) // the write is under way, and its result is lost
      return undefined
    }
    return promise
  }
}

async function fill(place: Place): Promise<void> {
  const { database } = place
  const { secrets } = coreOf(database, new FakeClock())
  const change = new Change()
  change.insert(organizations, organizationId, {
    ...{ id: organizationId, name: 'Acme', plan: 'enterprise' as const, defaultProjectId: projectId, createdAt: 0 },
  })
  change.insert(projects, organizationId, projectDefaults)
  change.insert(alertChannels, organizationId, { ...membersChannel, isOn: false })
  for (const id of channelIds) {
    const sealedTarget = secrets.seal(JSON.stringify({ ...noTarget, url: 'https://chat.example/x' }), targetContext(id))
    change.insert(alertChannels, organizationId, {
      ...membersChannel,
      id,
      kind: 'slack' as const,
      name: id,
      sealedTarget,
      shown: 'chat.example/…',
    })
  }
  if (!(await database.commit(change)).ok) throw new Error('the records are there already')
}

testWith('postgresql')(
  `alerts: two daemons and ${kills} kills write one delivery for each message and channel`,
  async (t: ExecutionContext) => {
    const seed = seedOf(40)
    t.log(`seed ${seed}`)
    const random = new Seeded(seed)
    await using databases = await anyDatabases()
    const address = await databases.database()
    await using one = await PostgresKv.open(address, { use: 'together' })
    await using other = await PostgresKv.open(address, { use: 'together' })
    const stores = [one, other]
    const clock = new FakeClock()
    const errors: unknown[] = []
    const places = stores.map((store) => new Place(store, clock, errors))
    const writer = new Place(one, clock, errors)
    await fill(writer)
    let struck = 0
    let round = 0
    let [victim, killed] = [0, places[0]!.killAt(1, false)]
    while (struck < kills) {
      round++
      const kind = 'destination.login_refused'
      // a warning, because an open error is told again after a day
      const seen = { ...observed(kind, `dst_${round}`, {}, projectId), severity: 'warning' as const }
      await writer.settle.settle({ organizationId, check: `c${round}`, observed: [seen] })
      clock.advance(301 * second)
      for (const { notifier } of places) notifier.start()
      const isKilled = await Promise.race([
        killed.then(() => true),
        Promise.all(places.map(({ notifier }) => notifier.idle())).then(() => false),
      ])
      if (isKilled) {
        struck++
        places[victim] = new Place(stores[victim]!, clock, errors)
        victim = random.between(0, 1)
        killed = places[victim]!.killAt(random.between(1, 3), random.chance(0.5))
      }
      for (const { notifier } of places) notifier.start()
      await Promise.race([killed, Promise.all(places.map(({ notifier }) => notifier.idle()))])
      // messages are a minute apart and 12 an hour
      clock.advance(6 * 60 * second)
    }
    const survivor = new Place(one, clock, errors)
    survivor.notifier.start()
    await survivor.notifier.idle()
    const deliveries = (await writer.database.all(webhookDeliveries, { organizationId })).map(({ record }) => record)
    const told = new Map<string, number>()
    for (const { endpointId, body } of deliveries) {
      const { data } = JSON.parse(body) as { data: { open: { kind: string; subject: string }[] } }
      for (const { kind, subject } of data.open) {
        if (kind !== 'destination.login_refused') continue
        const name = `${endpointId} ${subject}`
        told.set(name, (told.get(name) ?? 0) + 1)
      }
    }
    t.deepEqual(
      [...told].filter(([, count]) => count !== 1),
      [],
      'a finding was told twice',
    )
    t.is(told.size, round * channelIds.length, 'a finding was not told')
    const stored = await writer.database.all(findings, { organizationId })
    const marked = stored.filter(
      ({ record }) => record.kind === 'destination.login_refused' && channelIds.every((id) => record.notified[id]),
    )
    t.is(marked.length, round)
    t.deepEqual(errors, [])
  },
)
