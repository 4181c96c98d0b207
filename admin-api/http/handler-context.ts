/** What the handling of a request is given. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Feature } from '#config/plans/features.ts'
import type { Activity } from '#core/activity.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Fairness } from '#core/fairness/fairness.ts'
import type { JsonLimits } from '../bodies/json-body.ts'
import type { BodyReading } from '../bodies/request-body.ts'
import type { Authenticate, AuthenticateOperator } from '../credentials/authentication.ts'
import type { ProtectedResource } from '../credentials/challenge.ts'
import type { Work } from '../operation/operation.ts'
import type { AdminApiEvents } from './api-events.ts'
import type { ClientLoad } from './client-load.ts'
import type { RequestHandler } from './request-handler.ts'

/** What all exchanges of a server share. */
export interface HandlerContext {
  /** Parts of the daemon that the operations use. */
  readonly core: unknown
  readonly authenticate: Authenticate
  /** Throws `unauthorized` unless the request is the operator's, `not_found` where there is none. */
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
  readonly inFlight: Set<RequestHandler>
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

/** The request as the router found it. */
export interface Incoming {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly remoteAddress: string
  readonly pathValues: Readonly<Record<string, string>>
  readonly search: URLSearchParams | undefined
}
