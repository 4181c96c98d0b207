/** Diagnoses for people and agents: why a message bounced, and why one did not arrive. They read what is stored and change nothing. */
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

  /** Undefined when no message that the principal reaches has the id. */
  bounce(principal: Principal, request: BounceRequest): Promise<BounceDiagnosis | undefined> {
    return diagnoseBounce(this.#options, principal, request)
  }

  /** Throws `validation_failed` for what is no address or no time. */
  missing(principal: Principal, request: MissingRequest): Promise<MissingDiagnosis> {
    return diagnoseMissing(this.#options, principal, request)
  }
}
