/**
 * The core of a daemon that is open but not started, with helpers for records and messages. Replaces time, randomness, the network and,
 * unless a test needs it, the message parser.
 */
import type { ExecutionContext } from 'ava'
import type { Principal } from '#core/access/principal/principal.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { smtpCredentials, type SmtpCredential } from '#core/access/smtp-credential.ts'
import { BackgroundRead } from '#core/capture/reading/background-read.ts'
import { CaptureEvents } from '#core/capture/notify/capture-events.ts'
import type { Core } from '#core/core.ts'
import { inboxes, type Capture, type Inbox } from '#core/capture/capture.ts'
import { Inboxes } from '#core/capture/inboxes/inboxes.ts'
import type { MessageReader } from '#core/capture/reading/message-reader.ts'
import { Notifier } from '#core/capture/notify/notifier.ts'
import type { InspectScorer } from '#core/inspect/report.ts'
import type { Post } from '#core/outbound/post.ts'
import type { Resolver, RecordResolver } from '#core/outbound/resolver.ts'
import { Attempts } from '#core/delivery/attempt/attempt.ts'
import type { RetryPolicy } from '#core/delivery/attempt/backoff.ts'
import { HealthRegistry, type BreakerView } from '#core/delivery/health/health-registry.ts'
import { DeliveryQueue } from '#core/delivery/queue/queue.ts'
import type { AttemptReport, Transport } from '#core/delivery/transport.ts'
import { destinations, passwordContext, type Destination, type SmtpDestination } from '#core/routing/destination.ts'
import { Policies } from '#core/routing/policy/policy.ts'
import { routingRules, type RoutingRule, type RuleMatch } from '#core/routing/rule.ts'
import { SettingWrites } from '#core/writes/setting-writes.ts'
import { Accept } from '#core/submission/accept/accept.ts'
import { SubmissionDoor } from '#core/submission/doors/smtp-login.ts'
import type { Acceptance, Submission } from '#core/submission/submission.ts'
import { organizations, projects, type Organization, type Project } from '#core/tenancy/organization.ts'
import { Engagements } from '#core/tracking/engagements.ts'
import type { MessageRewriter } from '#core/tracking/rewriter.ts'
import type { TraceReader } from '#core/trace/timeline/trace-reader.ts'
import { timelineEntries } from '#core/trace/timeline/whole-timeline.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { Draft } from '#store/content.ts'
import { Database } from '#store/database.ts'
import { newTraceId } from '#store/ids.ts'
import { queueLength, type QueueEntry } from '#store/queue.ts'
import type { Identified, RecordKind } from '#store/record-kind.ts'
import type { RestCore } from '../../admin-api/rest/rest-operations.ts'
import type { Resolve } from '../../daemon/composition/parts.ts'
import type { CuttableKv } from '../support/cuttable-kv.ts'
import { FakeClock, startOfTime } from '../support/fake-clock.ts'
import { overhear } from '../support/overhear.ts'
import { openStoreOf } from '../support/daemon/store-of-test.ts'
import { dataFolder, openDaemon, type OpenedDaemon, type StartOptions } from '../support/daemon/start-daemon.ts'
import { factsDefaults, credentialDefaults, destinationDefaults, organizationId, projectDefaults, projectId } from './records.ts'
import { assertSound, problemsOf } from '../support/problems.ts'
import { NoReader, noRewriter } from './no-parsers.ts'
import { ScriptedTransport, type Script } from './scripted-transport.ts'

export const secrets = new SecretBox(Buffer.alloc(32, 7))

export interface CoreFixtureOptions {
  readonly reader?: MessageReader
  readonly transport?: ScriptedTransport
  /** Runs attempts instead of the scripted transport. */
  readonly network?: Transport
  readonly clock?: FakeClock
  readonly retry?: Partial<RetryPolicy>
  readonly random?: () => number
  /** Further settings of the operator. */
  readonly env?: Readonly<Record<string, string>>
  readonly maxConnections?: number
  readonly maxMemoryBytes?: number
  readonly maxReady?: number
  readonly readyTotal?: number
  readonly maxRecipients?: number
  readonly maxMessageBytes?: number
  readonly admission?: { check(): void }
  readonly resolver?: Resolver
  readonly bounceDomain?: string | null
  /** Tracking needs both. */
  readonly rewriter?: MessageRewriter
  readonly publicUrl?: string
  /** Accepted messages reach the queue only through the store. */
  readonly deaf?: boolean
  /** Scores messages of deliverability tests. */
  readonly scorer?: InspectScorer & AsyncDisposable
  /** Receives notifications of inboxes. */
  readonly post?: Post
}

type Test = Pick<ExecutionContext, 'teardown'>

/** Settings and replacements for the composition. */
function startOptions(options: CoreFixtureOptions, clock: FakeClock, transport: Transport): StartOptions {
  const { maxRecipients = 100, maxMessageBytes = 10_000_000, bounceDomain = 'bounces.postern.test', maxConnections = 200 } = options
  const { maxReady = 100, readyTotal = 10_000, maxMemoryBytes = 1e9, retry, publicUrl, resolver, post, random = () => 0.5 } = options
  return {
    env: {
      POSTERN_SMTP_HOST: 'mx.postern.test',
      ...(bounceDomain !== null && { POSTERN_INBOUND_DOMAIN: bounceDomain }),
      ...(publicUrl !== undefined && { POSTERN_BASE_URL: publicUrl }),
      ...options.env,
    },
    change({ delivery, submission, ...config }) {
      const { delaysMs, maxAgeMs, ...jitter } = { jitter: 0, ...retry }
      return {
        ...config,
        submission: { ...submission, maxRecipients, maxMessageBytes },
        delivery: {
          ...{ ...delivery, ...jitter, connectionsPerDestination: 1, connectionsTotal: maxConnections, memoryBudgetBytes: maxMemoryBytes },
          ...(delaysMs && { retrySeconds: delaysMs.map((ms) => ms / 1000) }),
          ...(maxAgeMs !== undefined && { maxAgeHours: maxAgeMs / 3_600_000 }),
        },
      }
    },
    replacements: {
      ...{ clock, transport, random, queue: { maxReady, readyTotal } },
      ...{ reader: options.reader ?? new NoReader(), rewriter: options.rewriter ?? noRewriter },
      ...(resolver && { resolver: { ...noNames, ...resolver } }),
      ...(post && { post }),
      ...(options.scorer && { scorer: options.scorer }),
    },
  }
}

/** Parts of an open daemon; only parts started by the test run. */
export class CoreFixture {
  readonly daemon: OpenedDaemon
  readonly kv: CuttableKv
  readonly database: Database
  readonly clock: FakeClock
  readonly context: Core
  readonly policies: Policies
  readonly writes: SettingWrites
  readonly transport: ScriptedTransport
  readonly health: HealthRegistry
  /** Every change of a breaker. */
  readonly breakers: ({ readonly id: string } & BreakerView)[] = []
  readonly attempts: Attempts
  readonly queue: DeliveryQueue
  readonly accept: Accept
  readonly door: SubmissionDoor
  readonly captureEvents: CaptureEvents
  readonly notifier: Notifier
  readonly backgroundRead: BackgroundRead
  readonly inboxes: Inboxes
  readonly engagements: Engagements
  /** A part of the daemon. */
  readonly part: Resolve
  /** Defects of background work; remaining ones fail the test. */
  readonly errors: unknown[] = []
  readonly accepted: Trace[] = []
  readonly queued: QueueEntry[] = []
  readonly captured: Capture[] = []
  readonly attempted: { readonly trace: Trace; readonly report: AttemptReport }[] = []
  /** Called before the queue is notified of an accepted message. */
  onQueued: ((entry: QueueEntry) => void) | undefined
  readonly #offer: DeliveryQueue['offer']
  readonly #t: Test
  readonly #options: CoreFixtureOptions

  private constructor(t: Test, daemon: OpenedDaemon, options: CoreFixtureOptions, clock: FakeClock, transport: ScriptedTransport) {
    const { part, kv } = (this.daemon = daemon)
    this.part = part
    this.#t = t
    this.#options = options
    this.kv = kv
    this.clock = clock
    this.transport = transport
    this.database = part('database')
    this.context = part('core')
    this.policies = this.context.policies
    this.writes = this.context.writes
    this.health = part('healthRegistry')
    this.attempts = part('attempts')
    this.queue = part('queue')
    this.accept = part('accept')
    this.door = part('submissionDoor')
    this.captureEvents = part('captureEvents')
    this.engagements = part('engagements')
    const { inboxNotifier, backgroundRead, inboxes } = part('inboxes')
    this.notifier = inboxNotifier
    this.backgroundRead = backgroundRead
    this.inboxes = inboxes
    if (options.admission) part('admission').check = () => options.admission?.check()
    this.#offer = this.queue.offer.bind(this.queue)
    this.#listen()
  }

  static async open(t: Test, dataDir: string, options: CoreFixtureOptions): Promise<CoreFixture> {
    const { clock = new FakeClock(), transport = new ScriptedTransport() } = options
    const daemon = await openDaemon(t, dataDir, startOptions(options, clock, options.network ?? transport))
    const fixture = new CoreFixture(t, daemon, options, clock, transport)
    t.teardown(() => {
      if (fixture.errors.length > 0)
        throw new AggregateError(fixture.errors, `the daemon failed inside: ${fixture.errors.map(String).join(', ')}`)
    })
    return fixture
  }

  /** Dependencies of the HTTP API. */
  get core(): RestCore {
    return this.part('rest')
  }

  get traces(): TraceReader {
    return this.core.traces
  }

  /** Resolves when no work is in progress and no timer is due. */
  settled(): Promise<void> {
    return this.daemon.settled()
  }

  /** Moves the clock to each due timer in turn, and settles after each. */
  pass(ms: number): Promise<void> {
    return this.daemon.pass(ms)
  }

  /** Records the events between parts. */
  #listen(): void {
    const observer = this.daemon.part('observer')
    overhear(observer, 'attempted', (trace, report) => void this.attempted.push({ trace, report }))
    overhear(observer, 'breakerChanged', (id, breaker) => void this.breakers.push({ id, ...breaker }))
    overhear(observer, 'sendAccepted', (trace) => void this.accepted.push(trace))
    overhear(this.daemon.part('inboxes'), 'onCaptured', (capture) => void this.captured.push(capture))
    observer.broke = (_what, error) => void this.errors.push(error)
    this.queue.offer = (entry, content, fresh, trace) => {
      if (!fresh) return this.#offer(entry, content, fresh)
      this.queued.push(entry)
      this.onQueued?.(entry)
      if (!this.#options.deaf) this.#offer(entry, content, fresh, trace)
    }
  }

  /** Ends the process and opens the same store in a new one. */
  async crash(changes: CoreFixtureOptions = {}): Promise<CoreFixture> {
    await this.daemon.crash()
    return CoreFixture.open(this.#t, this.daemon.dataDir, { ...this.#options, clock: this.clock, transport: this.transport, ...changes })
  }

  async put<R extends Identified>(kind: RecordKind<R>, record: R): Promise<R> {
    const stored = await this.database.get(kind, { organizationId }, record.id)
    const change = new Change()
    const result = await this.database.commit(
      stored ? change.replace(kind, organizationId, stored, record) : change.insert(kind, organizationId, record),
    )
    if (!result.ok) throw new Error(`could not put ${record.id}`)
    return record
  }

  async remove<R extends Identified>(kind: RecordKind<R>, id: string): Promise<void> {
    const stored = await this.database.get(kind, { organizationId }, id)
    if (!stored) throw new Error(`no ${id}`)
    await this.database.commit(new Change().remove(kind, organizationId, stored))
  }

  /** Changes fields of an existing record. */
  async edit<R extends Identified>(kind: RecordKind<R>, id: string, changes: Partial<R>): Promise<R> {
    const stored = await this.database.get(kind, { organizationId }, id)
    if (!stored) throw new Error(`no ${id}`)
    return this.put(kind, { ...stored.record, ...changes })
  }

  organization(changes: Partial<Organization>): Promise<Organization> {
    return this.edit(organizations, organizationId, changes)
  }

  project(changes: Partial<Project> = {}): Promise<Project> {
    return this.put(projects, { ...projectDefaults, ...changes })
  }

  destination(changes: Partial<SmtpDestination> = {}, password?: string): Promise<Destination> {
    const id = changes.id ?? 'dst_1'
    const sealedPassword = password === undefined ? null : secrets.seal(password, passwordContext(id))
    return this.put(destinations, { ...destinationDefaults, sealedPassword, ...changes })
  }

  rule(match: RuleMatch, destinationId = 'dst_1', changes: Partial<RoutingRule> = {}): Promise<RoutingRule> {
    const id = `rul_${++this.#rules}`
    return this.put(routingRules, { id, projectId, match, destinationId, priority: 10, createdAt: startOfTime, ...changes })
  }
  #rules = 0

  credential(password: string, changes: Partial<SmtpCredential> = {}): Promise<SmtpCredential> {
    return this.put(smtpCredentials, { ...credentialDefaults, passwordFingerprint: secrets.hash(password), ...changes })
  }

  inbox(changes: Partial<Inbox> = {}): Promise<Inbox> {
    const defaults = { id: 'inb_1', projectId, addressPattern: '*', name: 'All', createdAt: startOfTime }
    return this.put(inboxes, { ...defaults, ...changes })
  }

  /** Notifies the queue of an accepted message, also in a fixture without listeners. */
  offer(entry: QueueEntry): void {
    this.#offer(entry, undefined, true)
  }

  /** Submits a message to `accept`, like an entry point. */
  async submit(changes: Partial<Submission> & { readonly content?: Uint8Array | string } = {}): Promise<Acceptance> {
    const { content = 'Subject: hi\r\n\r\nhello\r\n', ...rest } = changes
    const traceId = rest.traceId ?? newTraceId()
    const draft = new Draft(this.database, organizationId, traceId)
    const bytes = Buffer.from(content as string)
    for (let at = 0; at < bytes.length; at += 100_000) await draft.write(bytes.subarray(at, at + 100_000))
    const facts = { ...factsDefaults, ...rest.facts }
    const submission = {
      door: 'rest' as const,
      principal,
      projectId,
      mailFrom: 'shop@example.com',
      rcptTo: ['anna@example.net'],
      submittedBy: 'key_1',
    }
    return this.accept.accept({ ...submission, ...rest, traceId, facts, draft })
  }

  async trace(traceId: string): Promise<Trace> {
    const stored = await this.database.get(traces, { organizationId }, traceId)
    if (!stored) throw new Error(`no trace ${traceId}`)
    return stored.record
  }

  /** The timeline's events and messages. */
  async details(traceId: string): Promise<string[]> {
    return timelineEntries(await this.traces.get(principal, traceId)).map(({ event, message }) => `${event}: ${message}`)
  }

  /** Problems that `postern verify` reports. */
  problems(): Promise<readonly string[]> {
    return problemsOf(this)
  }

  /** Asserts that `postern verify` would report no problem. */
  assertSound(t: ExecutionContext, where?: string): Promise<void> {
    return assertSound(t, this, where)
  }

  queueLength(): Promise<number> {
    return queueLength(this.database)
  }

  /** Returns all keys of the store as text, except the engine's stamps, to check that nothing remains. */
  async keys(prefix: string): Promise<string[]> {
    const keys: string[] = []
    for await (const { key } of this.kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) })) {
      const text = Buffer.from(key).toString('latin1')
      if (text.includes(prefix)) keys.push(text)
    }
    return keys
  }
}

export { destinationDefaults, factsDefaults, organizationId, projectDefaults, projectId }
export const principal: Principal = { organizationId, projectId, bound: false, scopes: ['api:admin'], credentialId: 'key_1' }

const noNames: RecordResolver & Resolver = {
  resolve4: async () => [],
  resolve6: async () => [],
  resolveTxt: async () => [],
  resolveMx: async () => [],
}

/** A fixture with an organization on plan enterprise and its project. */
export async function coreFixture(t: Test, options: CoreFixtureOptions = {}): Promise<CoreFixture> {
  const dataDir = await dataFolder(t)
  await seed(dataDir)
  return CoreFixture.open(t, dataDir, options)
}

/** A fixture that relays all mail to one destination. */
export async function relayingFixture(t: Test, options: CoreFixtureOptions = {}): Promise<CoreFixture> {
  const fixture = await coreFixture(t, options)
  await fixture.destination()
  await fixture.rule({ any: true })
  return fixture
}

/** A fixture that relays all mail to a provider with this script. */
export const relaying = (t: Test, script: Script, options: CoreFixtureOptions = {}): Promise<CoreFixture> =>
  relayingFixture(t, { transport: new ScriptedTransport(script), ...options })

/** Creates the first organization with fixed ids. */
async function seed(dataDir: string): Promise<void> {
  await using kv = await openStoreOf(dataDir)
  const organization = { name: 'Acme', plan: 'enterprise' as const, defaultProjectId: projectId, createdAt: startOfTime }
  await new Database(kv).commit(
    new Change()
      .insert(organizations, organizationId, { id: organizationId, ...organization })
      .insert(projects, organizationId, projectDefaults),
  )
}
