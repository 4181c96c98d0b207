/** The dependencies and input of request handling. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Feature } from '#config/plans/features.ts'
import type { Activity } from '#core/activity.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Fairness } from '#core/fairness/fairness.ts'
import type { Refusal } from '#core/refusals.ts'
import type { JsonLimits } from '../bodies/json/json-body.ts'
import type { BodyReading } from '../bodies/request-body.ts'
import type { Authenticate, AuthenticateOperator, AuthenticatePerson } from '../credentials/authentication.ts'
import type { ProtectedResource } from '../credentials/challenge.ts'
import type { Operation, Work } from '../operation/operation.ts'
import type { AdminApiEvents } from './api-events.ts'
import type { ClientLoad } from './client-load.ts'

/** Shared by all requests of a server. */
export interface HandlerContext {
  /** Parts of the daemon that the operations use. */
  readonly core: unknown
  readonly authenticate: Authenticate
  /** Throws `unauthorized` unless the caller is the operator, and `not_found` if the service has no operator. */
  readonly authenticateOperator: AuthenticateOperator
  readonly authenticatePerson: AuthenticatePerson
  /** Throws `feature_disabled` while the flag is off for the organization. */
  readonly requireFlag: (principal: Principal, feature: Feature) => Promise<void>
  /** The resource named in challenges to callers without a valid token. */
  readonly protectedResource: ProtectedResource | undefined
  /** Throws `overloaded` while the service sheds load, and `storage_full` for work that stores mail or files while disk space is low. */
  readonly admission: { check(work: Work): void }
  readonly fairness: Pick<Fairness, 'begin'>
  readonly events: AdminApiEvents
  readonly clients: ClientLoad
  readonly bodies: BodyReading
  readonly jsonLimits: JsonLimits
  readonly inFlight: Set<HandledRequest>
  readonly activity: Activity | undefined
  /** Connections refused for invalid HTTP; their further requests do not run. */
  readonly broken: WeakSet<Socket>
  readonly checkAnswers: boolean
  /** The public URL is https. */
  readonly isHttps: boolean
  isDraining(): boolean
  /** Milliseconds of a monotonic clock. */
  monotonic(): number
  nextRequestId(): string
}

/** A request in progress. */
export interface HandledRequest {
  readonly operation: Operation
  readonly socket: Socket
  /** On the clock of `monotonic`. */
  deadlineAt: number
  /** Its write may have begun, so only its outcome may be the response. */
  readonly isCommitting: boolean
  /** Resolves when the request ends, even if its client has disconnected. */
  readonly answered: Promise<Response>
  /** Ends a wait, or an overdue request. */
  end(reason: 'deadline' | 'draining'): void
  /** Called when the connection contains invalid HTTP. */
  breakOff(refusal: Refusal): void
}

/** The request from the router. */
export interface Incoming {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly remoteAddress: string
  readonly pathValues: Readonly<Record<string, string>>
  readonly search: URLSearchParams | undefined
}
