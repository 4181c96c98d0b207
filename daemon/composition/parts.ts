/** Types of the composition: its inputs, its parts by name, and the parts that are started and stopped. */
import type { Config } from '#config/settings/load.ts'
import type { AlertNotifier } from '#core/alerts/notifier.ts'
import type { ChannelBook } from '#core/alerts/channel-book.ts'
import type { Activity } from '#core/activity.ts'
import type { ApiKeys } from '#core/access/keys/api-keys.ts'
import type { KeyUses } from '#core/access/keys/key-uses.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import type { SmtpCredentials } from '#core/access/smtp-credentials.ts'
import type { CaptureEvents } from '#core/capture/notify/capture-events.ts'
import type { MessageReader } from '#core/capture/reading/message-reader.ts'
import type { Claims } from '#core/claims/claims.ts'
import type { Clock } from '#core/clock.ts'
import type { Fairness } from '#core/fairness/fairness.ts'
import type { Meter } from '#core/fairness/thread-meter.ts'
import type { Core } from '#core/core.ts'
import type { Attempts } from '#core/delivery/attempt/attempt.ts'
import type { DeliveryQueue, DeliveryQueueOptions } from '#core/delivery/queue/queue.ts'
import type { FileScanning } from '#core/forms/uploads/file-scanning.ts'
import type { FormNotifier } from '#core/forms/notifications/notifier.ts'
import type { HealthRegistry } from '#core/delivery/health/health-registry.ts'
import type { People } from '#core/people/people.ts'
import type { Probes } from '#core/delivery/probe/probes.ts'
import type { Transport } from '#core/delivery/transport.ts'
import type { InspectScorer } from '#core/inspect/report.ts'
import type { TestRecipients } from '#core/mail-tests/test-recipients.ts'
import type { LoginGuard } from '#core/visitors/login-guard.ts'
import { addressGuard, type AddressGuard, type AllowedRange } from '#core/outbound/address-guard.ts'
import type { Fetch } from '#core/outbound/fetch.ts'
import type { Post } from '#core/outbound/post.ts'
import type { LookUp, RecordResolver, Resolver } from '#core/outbound/resolver.ts'
import type { Doctor } from '#core/doctor/doctor.ts'
import type { Settle } from '#core/findings/settle.ts'
import type { Destinations } from '#core/routing/destinations/destinations.ts'
import type { Insights } from '#core/insights/insights.ts'
import type { AgentCalls } from '#core/billing/agent-calls.ts'
import type { ChangeStreams } from '#core/live/change-stream.ts'
import type { LateCounts } from '#core/insights/late-counts.ts'
import type { RollUp } from '#core/insights/roll-up.ts'
import type { Retention } from '#core/retention/retention.ts'
import type { Accept, AcceptOptions } from '#core/submission/accept/accept.ts'
import type { ActRunner } from '#core/delivery/acts/act-runner.ts'
import type { ReplayRunner } from '#core/submission/replay/replay-runner.ts'
import type { SmtpDoor } from '#core/submission/doors/smtp-door.ts'
import type { SubmissionDoor } from '#core/submission/doors/smtp-login.ts'
import type { DomainRounds } from '#core/domains/domain-rounds.ts'
import type { SendingDomains } from '#core/domains/sending-domains.ts'
import type { Engagements } from '#core/tracking/engagements.ts'
import type { AuthorSettings } from '#core/submission/doors/author.ts'
import type { FailureNotices } from '#core/notices/failure-notices.ts'
import type { MessageRewriter } from '#core/tracking/rewriter.ts'
import type { Watch } from '#core/watch/watch.ts'
import type { Database } from '#store/database.ts'
import type { Kv } from '#store/kv.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import type { Operation } from '../../admin-api/operation/operation.ts'
import type { AgentEndpoint } from '../../admin-api/mcp/endpoint.ts'
import type { FormCore } from '../../admin-api/rest/forms/form-core.ts'
import type { AdminApi, AdminApiOptions } from '../../admin-api/http/http-server.ts'
import type { RestCore } from '../../admin-api/rest/rest-operations.ts'
import type { SubmissionServer } from '../../protocols/submission/submission-server.ts'
import type { Admission } from '../observability/admission/admission.ts'
import type { Certificates } from '../certificates/certificate-source.ts'
import type { CurrentCertificate } from '../certificates/current-certificate.ts'
import type { DamageWatch } from '../doctor/damage-watch.ts'
import type { Housekeeping } from '../observability/housekeeping.ts'
import type { Decisions } from '../observability/decisions.ts'
import type { LogLoss } from '../observability/log-stream.ts'
import type { Logger } from '../observability/logging.ts'
import type { DefectLog } from '../observability/defect-log.ts'
import type { PartLogs } from '../observability/part-logs.ts'
import type { RecentLines } from '../observability/recent-lines.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Observer } from '../observability/observer.ts'
import type { OwnListeners } from '../process/own-listeners.ts'
import type { Readiness } from '../observability/readiness.ts'
import type {
  Administration,
  AlertParts,
  BillingParts,
  HttpCore,
  InboundCore,
  InboxCore,
  Ingest,
  OAuthServer,
  Publishable,
  SiteParts,
  SpanCore,
  WebhookCore,
  MailDoors,
} from './composed.ts'

/** Replacements for tests: everything that leaves the process, and time and randomness. */
export interface Replacements {
  readonly clock?: Clock
  /** Receives the start and end of work in progress. */
  readonly activity?: Activity
  /** Numbers in [0, 1), for jitter. */
  readonly random?: () => number
  readonly resolver?: Resolver & RecordResolver
  readonly transport?: Transport
  /** Creates the acceptance of messages. */
  readonly accept?: (options: AcceptOptions) => Accept
  /** Wraps the entry point of SMTP clients into the core. */
  readonly smtpDoor?: (door: SmtpDoor) => SmtpDoor
  /** Replies of simulated recipients to SMTP submission. Default: all recipients are accepted. */
  readonly recipients?: Pick<TestRecipients, 'answer'>
  /** Decides which addresses may be connected to, regardless of the settings. */
  readonly guard?: AddressGuard
  /** Reads messages instead of the worker threads. */
  readonly reader?: MessageReader
  /** Rewrites messages instead of the worker threads. */
  readonly rewriter?: MessageRewriter
  /** Scores mails of deliverability tests instead of the worker threads. */
  readonly scorer?: InspectScorer & AsyncDisposable
  /** Sends notifications of inboxes. */
  readonly post?: Post
  readonly lookUp?: LookUp
  /** Fetches the metadata documents of OAuth clients. */
  readonly fetch?: Fetch
  /** Trusted certificates in PEM of providers and receivers of webhooks and notifications, in addition to public authorities. */
  readonly trusted?: readonly string[]
  /** Networks for images of messages, in addition to the public internet. */
  readonly imagesAllowed?: readonly AllowedRange[]
  /** First delay between two requests for the state of a certificate order, in milliseconds. */
  readonly acmePollMs?: number
  /** Wraps the store. */
  readonly kv?: (kv: Kv) => Kv
  /** Delay of the event loop in milliseconds above which work is refused. */
  readonly lagMs?: number
  /** Measures the time of the main thread for each caller. */
  readonly meter?: Meter
  /** Returns the free bytes of the data folder. */
  readonly free?: () => number
  /** Sizes of the in-memory queue. */
  readonly queue?: Pick<DeliveryQueueOptions, 'maxReady' | 'readyTotal'>
  /** Time, limits and checks of the HTTP listener. */
  readonly http?: Pick<AdminApiOptions<never>, 'monotonic' | 'limits' | 'checkAnswers'>
  /** Additional operations. */
  readonly operations?: readonly Operation[] | undefined
}

/** Inputs of the composition, which the start opens, reads or creates. */
export interface Foundation {
  readonly config: Config
  readonly log: Logger
  readonly kv: StoreKv
  readonly secrets: SecretBox
  /** The key of `secrets`, for backups. */
  readonly masterKey: Uint8Array
  readonly metrics: Metrics
  readonly certificate: CurrentCertificate
  readonly version: string
  /** Token that authenticates the command line of this machine. */
  readonly operatorToken: string
  /** The latest log lines, if this process keeps them. */
  readonly recentLines?: RecentLines | undefined
  /** Log lines that were dropped; undefined if the log does not go to an output of the process. */
  readonly logLoss?: (() => LogLoss) | undefined
}

/** The parts of a daemon, by their name in the container. */
export interface Parts {
  readonly accept: Accept
  /** Undefined in production. */
  readonly activity: Activity | undefined
  readonly administration: Administration
  readonly agents: AgentEndpoint
  readonly admission: Admission
  readonly apiKeys: ApiKeys
  readonly alertBook: ChannelBook
  readonly alertNotifier: AlertNotifier
  readonly alerts: AlertParts
  readonly attempts: Attempts
  readonly healthRegistry: HealthRegistry
  readonly captureEvents: CaptureEvents
  readonly changeStreams: ChangeStreams
  readonly certificates: Certificates
  readonly claims: Claims
  readonly clock: Clock
  readonly core: Core
  readonly billing: BillingParts
  readonly credentials: SmtpCredentials
  readonly database: Database
  readonly decisions: Decisions
  readonly fairness: Fairness
  readonly meter: Meter
  readonly destinations: Destinations
  readonly doctor: Doctor
  readonly domainRounds: DomainRounds
  readonly engagements: Engagements
  readonly failureNotices: FailureNotices
  readonly fileScanning: FileScanning
  readonly forms: Omit<FormCore, 'replies' | 'webhookTests'>
  readonly formNotifier: FormNotifier
  readonly guard: AddressGuard
  readonly loginGuard: LoginGuard
  readonly health: Readiness
  readonly housekeeping: Housekeeping
  readonly damageWatch: DamageWatch
  readonly http: AdminApi<HttpCore>
  readonly inbound: InboundCore
  readonly inboxes: InboxCore
  readonly ingest: Ingest
  readonly insights: Insights
  readonly agentCalls: AgentCalls
  readonly keyUses: KeyUses
  readonly lateCounts: LateCounts
  readonly mailDoors: MailDoors
  readonly oauth: OAuthServer
  readonly observer: Observer
  readonly ownListeners: OwnListeners
  readonly partLogs: PartLogs
  readonly defectLog: DefectLog
  readonly people: People
  readonly probes: Probes
  readonly publishable: Publishable
  readonly queue: DeliveryQueue
  readonly random: () => number
  readonly reader: MessageReader
  readonly rest: RestCore
  readonly retention: Retention
  readonly settle: Settle
  readonly rollUp: RollUp
  readonly replayRunner: ReplayRunner
  readonly actRunner: ActRunner
  readonly resolver: Resolver & RecordResolver
  readonly rewriter: MessageRewriter
  /** Undefined without a configured collector. */
  readonly spans: SpanCore | undefined
  readonly sendingDomains: SendingDomains
  readonly sites: SiteParts
  readonly submission: SubmissionServer
  readonly submissionDoor: SubmissionDoor
  readonly transport: Transport
  readonly watch: Watch
  readonly webhooks: WebhookCore
}

/** Returns the part with this name. */
export type Resolve = <N extends keyof Parts>(name: N) => Parts[N]

/** Inputs for creating parts: the foundation, the replacements and other parts. */
export interface Composition extends Foundation {
  readonly replace: Replacements
  readonly get: Resolve
}

/** Registers how to create a part. It is created once for each daemon. */
export type Add = <N extends keyof Parts>(name: N, make: (composition: Composition) => Parts[N]) => void

/** Returns the guard for connections: the public internet and the ranges that a setting allows. */
export const guardOf = ({ replace }: Pick<Composition, 'replace'>, allowed: readonly AllowedRange[]): AddressGuard =>
  replace.guard ?? addressGuard(allowed)

/** Returns the settings that entry points need to find the author of a message. */
export const authorSettings = ({ smtpHost: hostname, sendmail: { localRecipient } }: Config): AuthorSettings => ({
  hostname,
  localRecipient,
})

/** Returns a handler that logs errors of a part. */
export const broke =
  ({ get }: Composition, what: string) =>
  (error: unknown, id?: string): void =>
    get('observer').broke(what, error, id)

/** Parts that are started and stopped. */
const started = [
  'database',
  'clock',
  'admission',
  'meter',
  'certificates',
  'reader',
  'inboxes',
  'housekeeping',
  'damageWatch',
  'retention',
  'billing',
  'rollUp',
  'agentCalls',
  'lateCounts',
  'changeStreams',
  'transport',
  'probes',
  'queue',
  'replayRunner',
  'actRunner',
  'administration',
  'agents',
  'submission',
  'mailDoors',
  'ownListeners',
  'people',
  'http',
  'health',
  'rewriter',
  'engagements',
  'failureNotices',
  'ingest',
  'watch',
  'webhooks',
  'inbound',
  'decisions',
  'formNotifier',
  'fileScanning',
  'domainRounds',
  'doctor',
  'alertNotifier',
  'sites',
] as const satisfies readonly (keyof Parts)[]

/** The parts of a daemon that are started and stopped, and access to the others. */
export interface Daemon extends Pick<Parts, (typeof started)[number]> {
  /** Returns any other part. */
  readonly part: Resolve
}

/** Creates every part of a daemon that is started and stopped. */
export const partsOf = (part: Resolve): Daemon => ({
  ...(Object.fromEntries(started.map((name) => [name, part(name)])) as unknown as Daemon),
  part,
})
