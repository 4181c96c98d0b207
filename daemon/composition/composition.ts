/**
 * The composition root: the one place that knows which implementation stands behind each interface. Everything is
 * built from plain constructor arguments; the container never leaves this file.
 */
import 'reflect-metadata' // tsyringe refuses to load without it
import { container as root, instanceCachingFactory as once, type DependencyContainer, type InjectionToken } from 'tsyringe'
import { pagesUrl, publicUrl } from '#config/settings/load.ts'
import { ApiKeys } from '#core/access/keys/api-keys.ts'
import { observeCounts } from '#core/feedback/suppression/counts.ts'
import { LoginGuard } from '#core/visitors/login-guard.ts'
import { Audit } from '#core/writes/audit.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import { SmtpCredentials } from '#core/access/smtp-credentials.ts'
import { CaptureEvents } from '#core/capture/notify/capture-events.ts'
import { Claims } from '#core/claims/claims.ts'
import { systemClock } from '#core/clock.ts'
import { HealthRegistry } from '#core/delivery/health/health-registry.ts'
import { Probes } from '#core/delivery/probe/probes.ts'
import { grantStands } from '#core/oauth/grants/grant.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import { SystemResolver } from '#core/outbound/resolver.ts'
import { Destinations } from '#core/routing/destinations/destinations.ts'
import { Retention } from '#core/retention/retention.ts'
import { people } from '#core/people/people.ts'
import { Policies } from '#core/routing/policy/policy.ts'
import { SettingWrites } from '#core/writes/setting-writes.ts'
import { Accept, type AcceptanceListener } from '#core/submission/accept/accept.ts'
import { ReplayRunner } from '#core/submission/replay/replay-runner.ts'
import { Engagements } from '#core/tracking/engagements.ts'
import { Tracking } from '#core/tracking/message-tracking.ts'
import { WorkerMessageReader } from '#ingest/messages/message-reader.ts'
import { WorkerMessageRewriter } from '#ingest/messages/message-rewriter.ts'
import { Database } from '#store/database.ts'
import type { QueueEntry } from '#store/queue.ts'
import { HttpTransport } from '../../protocols/relay/http/transport.ts'
import { SmtpTransport } from '../../protocols/relay/smtp/transport.ts'
import { RelayTransport } from '../../protocols/relay/transport.ts'
import { administration } from './administration.ts'
import { Admission, defaultLag, freeBytes } from '../observability/admission.ts'
import { deliveryAttempts, deliveryQueue } from './delivery-core.ts'
import { httpDoor } from './http-door.ts'
import { Housekeeping } from '../observability/housekeeping.ts'
import { inboundCore, inboundSettings } from './inbound-core.ts'
import { inboxCore } from './inbox-core.ts'
import { ingestCore } from './ingest-core.ts'
import { mailDoors, submissionDoor, submissionServer } from './mail-doors.ts'
import { Decisions } from '../observability/decisions.ts'
import { Observer } from '../observability/observer.ts'
import { oauthServer, publicFetch } from './oauth-core.ts'
import { OwnListeners } from '../process/own-listeners.ts'
import { publishableCore } from './publishable-core.ts'
import { Readiness } from '../observability/readiness.ts'
import { restCore } from './rest-core.ts'
import { restParts } from './rest-parts.ts'
import { T, type Foundation, type Replacements, type Resolve } from './parts.ts'
import { webhookCore } from './webhook-core.ts'

/** So many writes in the queue for the disk mean that it cannot keep up. */
const maxWaitingWrites = 20_000

/** Builds the parts of one daemon, each when it is first asked for. Nothing is started, and nothing is shared between two daemons of one process. */
export function compose(foundation: Foundation, replace: Replacements = {}): Resolve {
  const c = root.createChildContainer()
  const add = <V>(key: InjectionToken<V>, make: (c: DependencyContainer) => V): unknown => c.register(key, { useFactory: once(make) })
  addOutside(add, foundation, replace)
  addCore(add, foundation, replace)
  addWebhooks(add, foundation, replace)
  addDoors(add, foundation, replace)
  return (key) => c.resolve(key)
}

type Add = <V>(key: InjectionToken<V>, make: (c: DependencyContainer) => V) => unknown

/** What nearly every part of the core works with. */
const settingsOf = (secrets: SecretBox) => (c: DependencyContainer) => ({
  database: c.resolve(T.Database),
  policies: c.resolve(T.Policies),
  clock: c.resolve(T.Clock),
  secrets,
})

/** Time, the network, the disk and the threads: what leaves the process. */
function addOutside(add: Add, { config, log, kv, metrics }: Foundation, replace: Replacements): void {
  add(T.Clock, () => replace.clock ?? systemClock)
  add(T.Random, () => replace.random ?? Math.random)
  add(T.Database, () => {
    const database = new Database(replace.kv?.(kv) ?? kv)
    observeCounts(database, metrics)
    return database
  })
  add(T.Decisions, () => new Decisions())
  add(T.Observer, (c) => new Observer(log, metrics, c.resolve(T.Decisions)))
  add(T.Health, () => new Readiness())
  add(T.OwnListeners, () => new OwnListeners())
  add(T.Guard, () => addressGuard(config.outbound.allow.destinations))
  add(T.Resolver, (c) => replace.resolver ?? new SystemResolver({ servers: config.outbound.dnsServers, clock: c.resolve(T.Clock) }))
  add(
    T.Transport,
    (c) =>
      replace.transport ??
      new RelayTransport(
        new SmtpTransport({
          resolver: c.resolve(T.Resolver),
          guard: c.resolve(T.Guard),
          heloName: config.smtpHost,
          isOwn: (address, port) => c.resolve(T.OwnListeners).has(address, port),
          clock: c.resolve(T.Clock),
        }),
        new HttpTransport({ resolver: c.resolve(T.Resolver), guard: c.resolve(T.Guard), clock: c.resolve(T.Clock) }),
      ),
  )
  add(T.Reader, (c) => replace.reader ?? new WorkerMessageReader(c.resolve(T.Clock)))
  add(T.Rewriter, (c) => replace.rewriter ?? new WorkerMessageRewriter(c.resolve(T.Clock)))
  add(T.Admission, (c) => {
    const sources = {
      clock: c.resolve(T.Clock),
      free: () => freeBytes(config.dataDir),
      storeIsBehind: () => kv.waitingWrites > maxWaitingWrites,
    }
    return new Admission(sources, {
      ...defaultLag,
      ...(replace.lagMs !== undefined && { lagMs: replace.lagMs }),
      lowDiskBytes: config.store.lowDiskBytes,
    })
  })
  add(T.Housekeeping, (c) => {
    const onError = (error: unknown): void => c.resolve(T.Observer).broke('housekeeping', error)
    const sweepSandboxes = (): Promise<number> => c.resolve(T.OAuth).sandboxes.sweep()
    return new Housekeeping({
      ...{ database: c.resolve(T.Database), clock: c.resolve(T.Clock), sweepSandboxes, onError },
      collect: () => kv.collect(),
    })
  })
}

/** The decisions about mail. */
function addCore(add: Add, foundation: Foundation, replace: Replacements): void {
  const { config, secrets } = foundation
  addHealth(add, foundation)
  addDelivery(add, foundation, replace)
  addInboxes(add, foundation, replace)
  const base = settingsOf(secrets)
  add(T.Writes, (c) => new SettingWrites(c.resolve(T.Database), new Audit({ database: c.resolve(T.Database), clock: c.resolve(T.Clock) })))
  add(T.Policies, (c) => new Policies(c.resolve(T.Database), config.systemMail.destination))
  add(T.CaptureEvents, () => new CaptureEvents())
  add(T.Retention, (c) => {
    const onError = (error: unknown): void => c.resolve(T.Observer).broke('retention', error)
    return new Retention({ ...base(c), random: c.resolve(T.Random), onError })
  })
  add(T.ReplayRunner, (c) => {
    const onError = (error: unknown, id: string): void => c.resolve(T.Observer).broke('a replay', error, id)
    const queued = (entry: QueueEntry): void => c.resolve(T.Queue).offer(entry, undefined, false)
    return new ReplayRunner({ ...base(c), queued, onError })
  })
  add(T.Accept, (c) => {
    const { maxRecipients, maxMessageBytes } = config.submission
    return new Accept({
      ...base(c),
      tracking: new Tracking({ secrets, rewriter: c.resolve(T.Rewriter), publicUrl: config.baseUrl ?? undefined }),
      listener: acceptanceListener(c),
      health: c.resolve(T.HealthRegistry),
      maxRecipients,
      maxMessageBytes,
      bounceDomain: config.inboundDomain,
    })
  })
  add(T.Engagements, (c) => {
    const onError = (error: unknown, id: string): void => c.resolve(T.Observer).broke('the recording of an opening or click', error, id)
    return new Engagements({ ...base(c), admission: c.resolve(T.Admission), onError })
  })
  add(T.Administration, (c) => {
    const onError = (error: unknown, id: string): void => c.resolve(T.Observer).broke('a removal', error, id)
    const parts = { writes: c.resolve(T.Writes), accept: c.resolve(T.Accept), attempts: c.resolve(T.Attempts), onError }
    return administration({ ...base(c), ...parts })
  })
  add(T.People, (c) => {
    const onError = (error: unknown): void => c.resolve(T.Observer).broke('mail of the service', error)
    const baseUrl = pagesUrl(config, config.http.listen)
    const { signUp, systemMail } = config
    return people({ ...base(c), signUp, systemMail, writes: c.resolve(T.Writes), accept: c.resolve(T.Accept), baseUrl, onError })
  })
  add(T.Claims, (c) => {
    const parts = { writes: c.resolve(T.Writes), people: c.resolve(T.People), sandboxes: c.resolve(T.OAuth).sandboxes }
    return new Claims({ ...base(c), ...parts, audit: new Audit(base(c)) })
  })
  add(T.ApiKeys, (c) => {
    const asked = { rightsOfMember: c.resolve(T.People).members.permissionsOf, grantStands: grantStands(c.resolve(T.Database)) }
    return new ApiKeys({ ...base(c), writes: c.resolve(T.Writes), ...asked })
  })
  add(T.Credentials, (c) => new SmtpCredentials({ ...base(c), writes: c.resolve(T.Writes), bounceDomain: config.inboundDomain }))
  add(T.OAuth, (c) =>
    oauthServer({
      ...{ ...base(c), config, writes: c.resolve(T.Writes), rightsOfMember: c.resolve(T.People).members.permissionsOf },
      fetch: replace.fetch ?? publicFetch(c.resolve(T.Resolver), c.resolve(T.Clock)),
      servesMcp: replace.servesMcp,
      events: c.resolve(T.Observer),
      notices: c.resolve(T.People).notices,
      onDeleted: () => c.resolve(T.Administration).removals.wake(),
    }),
  )
}

/** Virtual inboxes, and who reads and tells what lands in them. */
function addInboxes(add: Add, { config, secrets }: Foundation, { post, trusted, imagesAllowed }: Replacements): void {
  add(T.Inboxes, (c) => {
    const onError = (error: unknown, id: string): void => c.resolve(T.Observer).broke('the reading of a capture', error, id)
    const parts = {
      writes: c.resolve(T.Writes),
      reader: c.resolve(T.Reader),
      captureEvents: c.resolve(T.CaptureEvents),
      resolver: c.resolve(T.Resolver),
    }
    const outside = { allowed: config.outbound.allow.webhooks, post, trusted, imagesAllowed }
    const told = { ...outside, sharedSecret: config.inboxNotifySecret ?? undefined }
    return inboxCore({ ...settingsOf(secrets)(c), ...parts, ...told, ...inboxUrls(config), onError })
  })
}

/** Events for the servers of tenants. */
function addWebhooks(add: Add, { config, secrets, metrics }: Foundation, { lookUp, trusted }: Replacements): void {
  add(T.Webhooks, (c) => {
    const onError = (error: unknown, id: string): void => c.resolve(T.Observer).broke('a webhook delivery', error, id)
    const parts = { writes: c.resolve(T.Writes), resolver: c.resolve(T.Resolver), allowed: config.outbound.allow.webhooks }
    return webhookCore({ ...settingsOf(secrets)(c), ...parts, trusted, onError, metrics })
  })
  add(T.Inbound, (c) => {
    const onError = (error: unknown, id: string): void => c.resolve(T.Observer).broke('the preparation of mail for a route', error, id)
    const parts = { writes: c.resolve(T.Writes), resolver: c.resolve(T.Resolver), reader: c.resolve(T.Reader), onError }
    return inboundCore({ ...settingsOf(secrets)(c), ...parts, lookUp }, inboundSettings(config))
  })
}

/** The queue, what it does with a message, and what is told of it afterwards. */
function addDelivery(add: Add, { config, secrets, metrics }: Foundation, replace: Replacements): void {
  add(T.Attempts, (c) =>
    deliveryAttempts(config, {
      ...settingsOf(secrets)(c),
      transport: c.resolve(T.Transport),
      listener: c.resolve(T.Observer),
      onCaptured: (capture) => c.resolve(T.Inboxes).onCaptured(capture),
      health: c.resolve(T.HealthRegistry),
      random: c.resolve(T.Random),
    }),
  )
  add(T.Ingest, (c) => {
    const onError = (error: unknown): void => c.resolve(T.Observer).broke('feedback', error)
    const outside = { guard: c.resolve(T.Guard), resolver: c.resolve(T.Resolver) }
    return ingestCore({ ...settingsOf(secrets)(c), ...outside, writes: c.resolve(T.Writes), onError })
  })
  add(T.Queue, (c) => {
    const onError = (error: unknown, traceId: string): void => c.resolve(T.Observer).broke('delivery', error, traceId)
    const parts = { attempts: c.resolve(T.Attempts), board: c.resolve(T.HealthRegistry), ...replace.queue, onError }
    return deliveryQueue(config, metrics, { ...settingsOf(secrets)(c), ...parts })
  })
}

/** How destinations are, and the destinations themselves. */
function addHealth(add: Add, { config, secrets }: Foundation): void {
  add(T.HealthRegistry, (c) => {
    const onUsed = (organizationId: string, id: string): void => c.resolve(T.Probes).used(organizationId, id)
    return new HealthRegistry({ clock: c.resolve(T.Clock), random: c.resolve(T.Random), listener: c.resolve(T.Observer), onUsed })
  })
  add(
    T.Destinations,
    (c) =>
      new Destinations({
        ...settingsOf(secrets)(c),
        writes: c.resolve(T.Writes),
        guard: c.resolve(T.Guard),
        resolver: c.resolve(T.Resolver),
        defaultConnections: config.delivery.connectionsPerDestination,
      }),
  )
  add(
    T.Probes,
    (c) =>
      new Probes({
        destinations: c.resolve(T.Destinations),
        current: async (organizationId, id) => (await c.resolve(T.Policies).of(organizationId)).destinations.get(id),
        board: c.resolve(T.HealthRegistry),
        secrets,
        clock: c.resolve(T.Clock),
        transport: c.resolve(T.Transport),
        random: c.resolve(T.Random),
        onError: (error, id) => c.resolve(T.Observer).broke('the probe of a destination', error, id),
      }),
  )
}

/** SMTP and HTTP in front of the core. */
function addDoors(add: Add, foundation: Foundation, replace: Replacements): void {
  const { config, secrets } = foundation
  const base = settingsOf(secrets)
  add(T.LoginGuard, (c) => new LoginGuard(c.resolve(T.Clock)))
  add(T.SubmissionDoor, (c) => {
    const parts = { accept: c.resolve(T.Accept), admission: c.resolve(T.Admission), loginGuard: c.resolve(T.LoginGuard) }
    return submissionDoor(config, { ...base(c), ...parts, resolver: c.resolve(T.Resolver) })
  })
  add(T.Submission, (c) => {
    const parts = { door: c.resolve(T.SubmissionDoor), clock: c.resolve(T.Clock), events: c.resolve(T.Observer) }
    return submissionServer(foundation, parts)
  })
  add(T.MailDoors, (c) => {
    const network = { admission: c.resolve(T.Admission), resolver: c.resolve(T.Resolver), guard: c.resolve(T.Guard) }
    const routes = c.resolve(T.Inbound).routeIntake
    const { feedback, reports } = c.resolve(T.Ingest)
    const { lookUp, scorer } = replace
    return mailDoors(foundation, { ...base(c), ...network, routes, lookUp, scorer, feedback, reports, random: c.resolve(T.Random) })
  })
  add(T.Publishable, (c) => {
    const parts = { writes: c.resolve(T.Writes), resolver: c.resolve(T.Resolver), accessTokens: c.resolve(T.OAuth).accessTokens }
    return publishableCore({ ...base(c), ...parts, config })
  })
  add(T.Core, (c) => restCore(restParts((key) => c.resolve(key), foundation)))
  add(T.Http, (c) => httpDoor((key) => c.resolve(key), foundation, replace))
}

const inboxUrls = (config: Foundation['config']) => ({
  baseUrl: publicUrl(config, config.http.listen),
  pagesUrl: pagesUrl(config, config.http.listen),
})

/** What was accepted goes on at once; a process that dies before finds it in the store. */
function acceptanceListener(c: DependencyContainer): AcceptanceListener {
  return {
    accepted: (trace) => c.resolve(T.Observer).sendAccepted(trace),
    queued: (entry, content) => c.resolve(T.Queue).offer(entry, content, true),
    captured: (capture) => c.resolve(T.Inboxes).onCaptured(capture),
  }
}
