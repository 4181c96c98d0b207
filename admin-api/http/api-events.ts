/** Events of the HTTP side: answered requests, and failures. */
import type { RefusalCode } from '#core/refusals.ts'

/** A line of the access log and an observation of the metrics. */
export interface Answered {
  readonly operationId: string
  readonly method: string
  readonly status: number
  /** Code of the refusal, if the request was refused. */
  readonly code: RefusalCode | undefined
  /** Message of the refusal. */
  readonly reason: string | undefined
  /** Organization of the caller, if known. */
  readonly organizationId: string | undefined
  readonly durationMs: number
  readonly requestId: string
  readonly grantId: string | undefined
}

/** Receives events of the HTTP side. Implementations must not throw. */
export interface AdminApiEvents {
  answered(answered: Answered): void
  /** An unexpected failure, to be logged with its stack. */
  failed(error: unknown, where: { readonly requestId: string; readonly operationId: string }): void
  /** A connection beyond the limit was closed without a response. */
  connectionDropped(): void
}
