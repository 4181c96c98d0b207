/** What a daemon is made of: what it is built from, the parts that are started and stopped, and the token of each part. */
import type { InjectionToken } from 'tsyringe'
import type { Config } from '#config/settings/load.ts'
import type { ApiKeys } from '#core/access/keys/api-keys.ts'
import type { Removals } from '#core/administration/removals.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import type { SmtpCredentials } from '#core/access/smtp-credentials.ts'
import type { CaptureEvents } from '#core/capture/notify/capture-events.ts'
import type { MessageReader } from '#core/capture/reading/message-reader.ts'
import type { Claims } from '#core/claims/claims.ts'
import type { Clock } from '#core/clock.ts'
import type { Core } from '#core/core.ts'
import type { Attempts } from '#core/delivery/attempt/attempt.ts'
import type { DeliveryQueue, DeliveryQueueOptions } from '#core/delivery/queue/queue.ts'
import type { HealthRegistry } from '#core/delivery/health/health-registry.ts'
import type { People } from '#core/people/people.ts'
import type { Probes } from '#core/delivery/probe/probes.ts'
import type { Transport } from '#core/delivery/transport.ts'
import type { InspectScorer } from '#core/inspect/report.ts'
import type { LoginGuard } from '#core/visitors/login-guard.ts'
import type { AddressGuard, AllowedRange } from '#core/outbound/address-guard.ts'
import type { Fetch } from '#core/outbound/fetch.ts'
import type { Post } from '#core/outbound/post.ts'
import type { LookUp, RecordResolver, Resolver } from '#core/outbound/resolver.ts'
import type { Destinations } from '#core/routing/destinations/destinations.ts'
import type { Retention } from '#core/retention/retention.ts'
import type { Accept } from '#core/submission/accept/accept.ts'
import type { ReplayRunner } from '#core/submission/replay/replay-runner.ts'
import type { SubmissionDoor } from '#core/submission/doors/smtp-login.ts'
import type { Engagements } from '#core/tracking/engagements.ts'
import type { MessageRewriter } from '#core/tracking/rewriter.ts'
import type { Database } from '#store/database.ts'
import type { Kv } from '#store/kv.ts'
import type { LevelKv } from '#store/level/level-kv.ts'
import type { Operation } from '../../admin-api/operation/operation.ts'
import type { AdminApi, AdminApiOptions } from '../../admin-api/http/server.ts'
import type { RestCore } from '../../admin-api/rest/operations.ts'
import type { SubmissionServer } from '../../protocols/submission/server.ts'
import type { Admission } from '../observability/admission.ts'
import type { Certificate } from '../process/certificate.ts'
import type { Housekeeping } from '../observability/housekeeping.ts'
import type { Decisions } from '../observability/decisions.ts'
import type { Logger } from '../observability/logging.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Observer } from '../observability/observer.ts'
import type { OwnListeners } from '../process/own-listeners.ts'
import type { Readiness } from '../observability/readiness.ts'
import type { Administration, InboundCore, InboxCore, Ingest, OAuthServer, Publishable, WebhookCore, MailDoors } from './composed.ts'

/** What leaves the process, or is time or chance; tests put their own in its place. */
export interface Replacements {
  readonly clock?: Clock
  /** Numbers from 0 up to 1, for jitter. */
  readonly random?: () => number
  readonly resolver?: Resolver & RecordResolver
  readonly transport?: Transport
  /** Reads messages in place of the threads that do. */
  readonly reader?: MessageReader
  /** Rewrites messages in place of the threads that do. */
  readonly rewriter?: MessageRewriter
  /** Scores mails of deliverability tests in place of the threads that do. */
  readonly scorer?: InspectScorer & AsyncDisposable
  /** Carries notifications of inboxes. */
  readonly post?: Post
  readonly lookUp?: LookUp
  /** Fetches what clients of the authorization server say about themselves. */
  readonly fetch?: Fetch
  /** Certificates in PEM that receivers of webhooks and notifications may have besides those of well-known authorities. */
  readonly trusted?: readonly string[]
  /** There is an MCP endpoint, outside of this daemon. */
  readonly servesMcp?: boolean | undefined
  /** Networks besides the public internet that images of messages may come from. */
  readonly imagesAllowed?: readonly AllowedRange[]
  /** Stands between everything and the store. */
  readonly kv?: (kv: Kv) => Kv
  /** Milliseconds by which the event loop may be late before work is refused. */
  readonly lagMs?: number
  /** How much of what waits is kept ready. */
  readonly queue?: Pick<DeliveryQueueOptions, 'maxReady' | 'readyTotal'>
  /** Time, limits and checks of the HTTP side. */
  readonly http?: Pick<AdminApiOptions, 'monotonic' | 'limits' | 'checkAnswers'>
  /** Operations that are served besides. */
  readonly operations?: readonly Operation[] | undefined
}

/** What stands before anything can be composed: opened, read or made by the start. */
export interface Foundation {
  readonly config: Config
  readonly log: Logger
  readonly kv: LevelKv
  readonly secrets: SecretBox
  readonly metrics: Metrics
  readonly certificate: Pick<Certificate, 'cert' | 'key'>
  readonly version: string
  /** What the command line of this machine shows to the daemon. */
  readonly operatorToken: string
}

/** The parts of a daemon that are started and stopped, and what the start itself needs. */
export interface Daemon {
  readonly database: Database
  readonly clock: Clock
  readonly admission: Admission
  readonly reader: MessageReader
  readonly inboxes: InboxCore
  readonly housekeeping: Housekeeping
  readonly retention: Retention
  readonly transport: Transport
  readonly probes: Probes
  readonly queue: DeliveryQueue
  readonly replayRunner: ReplayRunner
  readonly removals: Removals
  readonly submission: SubmissionServer
  readonly mailDoors: MailDoors
  readonly ownListeners: OwnListeners
  readonly people: People
  readonly http: AdminApi
  readonly health: Readiness
  readonly rewriter: MessageRewriter
  readonly engagements: Engagements
  readonly ingest: Ingest
  readonly webhooks: WebhookCore
  readonly inbound: InboundCore
  readonly decisions: Decisions
  /** Any other part. */
  readonly part: Resolve
}

/** Gives the part behind a token. */
export type Resolve = <V>(key: InjectionToken<V>) => V

/** What parts are built from: what the start has opened, what stands in place of the outside, and other parts. */
export interface Composition extends Foundation {
  readonly replace: Replacements
  readonly get: Resolve
}

/** Says how the part behind a token is built, once for each daemon. */
export type Add = <V>(key: InjectionToken<V>, make: (composition: Composition) => V) => void

/** Logs what a part could not do. */
export const broke =
  ({ get }: Composition, what: string) =>
  (error: unknown, id?: string): void =>
    get(T.Observer).broke(what, error, id)

const token = <T>(name: string): InjectionToken<T> => Symbol(name)

/** A token for each part that stands in the container. */
export const T = {
  Accept: token<Accept>('Accept'),
  Administration: token<Administration>('Administration'),
  Admission: token<Admission>('Admission'),
  ApiKeys: token<ApiKeys>('ApiKeys'),
  Attempts: token<Attempts>('Attempts'),
  HealthRegistry: token<HealthRegistry>('HealthRegistry'),
  CaptureEvents: token<CaptureEvents>('CaptureEvents'),
  Claims: token<Claims>('Claims'),
  Clock: token<Clock>('Clock'),
  Core: token<Core>('Core'),
  Credentials: token<SmtpCredentials>('Credentials'),
  Database: token<Database>('Database'),
  Decisions: token<Decisions>('Decisions'),
  Destinations: token<Destinations>('Destinations'),
  Engagements: token<Engagements>('Engagements'),
  Guard: token<AddressGuard>('Guard'),
  LoginGuard: token<LoginGuard>('LoginGuard'),
  Health: token<Readiness>('Health'),
  Housekeeping: token<Housekeeping>('Housekeeping'),
  Http: token<AdminApi>('Http'),
  Inbound: token<InboundCore>('Inbound'),
  Inboxes: token<InboxCore>('Inboxes'),
  Ingest: token<Ingest>('Ingest'),
  MailDoors: token<MailDoors>('MailDoors'),
  OAuth: token<OAuthServer>('OAuth'),
  Observer: token<Observer>('Observer'),
  OwnListeners: token<OwnListeners>('OwnListeners'),
  People: token<People>('People'),
  Probes: token<Probes>('Probes'),
  Publishable: token<Publishable>('Publishable'),
  Queue: token<DeliveryQueue>('Queue'),
  Random: token<() => number>('Random'),
  Reader: token<MessageReader>('Reader'),
  Rest: token<RestCore>('Rest'),
  Retention: token<Retention>('Retention'),
  ReplayRunner: token<ReplayRunner>('ReplayRunner'),
  Resolver: token<Resolver & RecordResolver>('Resolver'),
  Rewriter: token<MessageRewriter>('Rewriter'),
  Submission: token<SubmissionServer>('Submission'),
  SubmissionDoor: token<SubmissionDoor>('SubmissionDoor'),
  Transport: token<Transport>('Transport'),
  Webhooks: token<WebhookCore>('Webhooks'),
}

/** Every part of a daemon that is started and stopped. */
export function partsOf(part: Resolve): Daemon {
  return {
    database: part(T.Database),
    clock: part(T.Clock),
    admission: part(T.Admission),
    reader: part(T.Reader),
    inboxes: part(T.Inboxes),
    housekeeping: part(T.Housekeeping),
    retention: part(T.Retention),
    transport: part(T.Transport),
    probes: part(T.Probes),
    queue: part(T.Queue),
    replayRunner: part(T.ReplayRunner),
    removals: part(T.Administration).removals,
    submission: part(T.Submission),
    mailDoors: part(T.MailDoors),
    ownListeners: part(T.OwnListeners),
    people: part(T.People),
    http: part(T.Http),
    health: part(T.Health),
    rewriter: part(T.Rewriter),
    engagements: part(T.Engagements),
    ingest: part(T.Ingest),
    webhooks: part(T.Webhooks),
    inbound: part(T.Inbound),
    decisions: part(T.Decisions),
    part,
  }
}
