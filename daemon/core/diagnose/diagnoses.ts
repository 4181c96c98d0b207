/** Diagnoses for people and agents: why a message bounced, and why a message did not arrive. Diagnoses change nothing. */
import type { Principal } from '../access/principal/principal.ts'
import { diagnoseBounce, type BounceRequest } from './bounce/bounce.ts'
import type { BounceDiagnosis, MissingDiagnosis } from './search/diagnosis.ts'
import type { MissingOptions } from './missing/missing-context.ts'
import { diagnoseMissing, type MissingRequest } from './missing/missing.ts'

export class Diagnoses {
  readonly #options: MissingOptions

  constructor(options: MissingOptions) {
    this.#options = options
  }

  /** Returns undefined if no message within the principal's reach has the id. */
  bounce(principal: Principal, request: BounceRequest): Promise<BounceDiagnosis | undefined> {
    return diagnoseBounce(this.#options, principal, request)
  }

  /** Throws `validation_failed` for an invalid address or time window. */
  missing(principal: Principal, request: MissingRequest): Promise<MissingDiagnosis> {
    return diagnoseMissing(this.#options, principal, request)
  }
}
