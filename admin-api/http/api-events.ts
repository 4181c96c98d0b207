/** What the HTTP side reports while it works: requests that were answered, and what broke. */
import type { RefusalCode } from '#core/refusals.ts'

/** One line of the access log and one observation of the metrics. */
export interface Answered {
  readonly operationId: string
  readonly method: string
  readonly status: number
  /** Code of the refusal, where it was one. */
  readonly code: RefusalCode | undefined
  /** Its message. */
  readonly reason: string | undefined
  /** Of who asked, where that is known. */
  readonly organizationId: string | undefined
  readonly durationMs: number
  readonly requestId: string
  readonly grantId: string | undefined
}

/** What the HTTP side reports while it works; implementations must not throw. */
export interface AdminApiEvents {
  answered(answered: Answered): void
  /** Something broke that is not a refusal: to be logged with its stack. */
  failed(error: unknown, where: { readonly requestId: string; readonly operationId: string }): void
  /** A connection beyond the limit was closed unanswered. */
  connectionDropped(): void
}
