/** What the handling of a request is given. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Feature } from '#config/plans/features.ts'
import type { Activity } from '#core/activity.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Fairness } from '#core/fairness/fairness.ts'
import type { Refusal } from '#core/refusals.ts'
import type { JsonLimits } from '../bodies/json/json-body.ts'
import type { BodyReading } from '../bodies/request-body.ts'
import type { Authenticate, AuthenticateOperator } from '../credentials/authentication.ts'
import type { ProtectedResource } from '../credentials/challenge.ts'
import type { Operation, Work } from '../operation/operation.ts'
import type { AdminApiEvents } from './api-events.ts'
import type { ClientLoad } from './client-load.ts'

/** What all exchanges of a server share. */
export interface HandlerContext {
  /** Parts of the daemon that the operations use. */
  readonly core: unknown
  readonly authenticate: Authenticate
  /** Throws `unauthorized` for a request of anybody but the operator, and `not_found` if the service has no operator. */
  readonly authenticateOperator: AuthenticateOperator
  /** Throws `feature_disabled` while the flag is off for the organization. */
  readonly requireFlag: (principal: Principal, feature: Feature) => Promise<void>
  /** What callers without a good token are pointed to. */
  readonly protectedResource: ProtectedResource | undefined
  /** Throws `overloaded` while the service sheds load, and `storage_full` for work that stores mail or files while the disk is low. */
  readonly admission: { check(work: Work): void }
  readonly fairness: Pick<Fairness, 'begin'>
  readonly events: AdminApiEvents
  readonly clients: ClientLoad
  readonly bodies: BodyReading
  readonly jsonLimits: JsonLimits
  readonly inFlight: Set<HandledRequest>
  readonly activity: Activity | undefined
  /** Connections that broke HTTP and were refused for it: no further request of theirs is run. */
  readonly broken: WeakSet<Socket>
  readonly checkAnswers: boolean
  /** The public address is https. */
  readonly isHttps: boolean
  isDraining(): boolean
  /** Milliseconds that only grow. */
  monotonic(): number
  nextRequestId(): string
}

/** A request that is handled. */
export interface HandledRequest {
  readonly operation: Operation
  readonly socket: Socket
  /** On the clock of `monotonic`. */
  deadlineAt: number
  /** Its write may be under way: its outcome alone answers. */
  readonly isCommitting: boolean
  /** Resolves when the request is over, also without its client. */
  readonly answered: Promise<Response>
  /** Ends a wait, or a request that takes too long. */
  end(reason: 'deadline' | 'draining'): void
  /** The rest of the connection cannot be read. */
  breakOff(refusal: Refusal): void
}

/** The request as the router found it. */
export interface Incoming {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly remoteAddress: string
  readonly pathValues: Readonly<Record<string, string>>
  readonly search: URLSearchParams | undefined
}
