/** The dependencies and events of GraphQL, and the machine-readable part of errors. Needs none of the GraphQL packages. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Principal } from '#core/access/principal/principal.ts'
import { refusals, type Refusal } from '#core/refusals.ts'
import type { Client } from '../actions/action.ts'
import type { RequireFlag } from '../actions/invoke.ts'
import { envelope } from '../http/rendering.ts'
import type { Work } from '../operation/operation.ts'
import type { RestCore } from '../rest/rest-core.ts'

/** A field of `Query` or `Mutation`, or a refused document; for the log and the metrics, without arguments. */
export interface FieldAnswered {
  /** `document` for a refused document. */
  readonly field: string
  /** `ok`, or the code of the refusal. */
  readonly outcome: string
  readonly milliseconds: number
  readonly organizationId: string
  readonly projectId: string
  readonly grantId: string
  readonly requestId: string
}

/** Implementations must not throw. */
export interface GraphqlEvents {
  fieldAnswered(answered: FieldAnswered): void
  /** An unexpected failure, to be logged with its stack. */
  failed(error: unknown, where: { readonly requestId: string; readonly operationId: string }): void
}

export interface GraphqlOptions {
  readonly core: RestCore
  readonly requireFlag: RequireFlag
  /** Throws if a session needs a recent confirmation for the action. Keys need no confirmation. */
  readonly requireConfirmed: (actionId: string, headers: IncomingHttpHeaders) => Promise<void>
  readonly admission: { check(work: Work): void }
  readonly events: GraphqlEvents
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number
}

/** A request. */
export interface GraphqlCall {
  readonly method: 'GET' | 'POST'
  readonly params: {
    readonly query: string
    readonly operationName?: string | null | undefined
    readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  }
  readonly headers: IncomingHttpHeaders
  readonly principal: Principal
  readonly client: Client
  readonly signal: AbortSignal
}

/** Returns the `extensions` of an error, for programs. */
export function extensionsOf(refusal: Refusal, requestId?: string): Record<string, unknown> {
  const { error } = JSON.parse(envelope(refusal)) as { readonly error: Readonly<Record<string, unknown>> }
  const { message: _message, ...rest } = error
  return { ...rest, status: refusals[refusal.code].http, ...(requestId !== undefined && { request_id: requestId }) }
}
