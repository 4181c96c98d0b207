/**
 * Acceptance in an instance for mail tests. A message to a recipient with a fault is relayed to the simulated recipients, so that its trace
 * has a real delivery. All other mail is captured.
 */
import { Accept } from '../submission/accept/accept.ts'
import type { ContentDraftInStore } from '../submission/accept/draft.ts'
import type { Acceptance, Submission } from '../submission/submission.ts'
import { faultOf } from './fault.ts'

/** The organization and the destination of the simulated recipients. */
export interface SimulatedPlace {
  readonly organizationId: string
  readonly destinationId: string
}

/** Faults that already occurred at RCPT of an SMTP submission. */
const seenAtSubmission: ReadonlySet<string> = new Set(['defer', 'refuse', 'bounce', 'slow'])

export class TestAccept extends Accept {
  #place: SimulatedPlace | undefined

  /** Relays messages to recipients with faults to this destination from now on. */
  relayFaults(place: SimulatedPlace): void {
    this.#place = place
  }

  override accept(submission: Submission & { readonly draft: ContentDraftInStore }): Promise<Acceptance> {
    return super.accept(this.#routed(submission))
  }

  override check(submission: Submission): Promise<void> {
    return super.check(this.#routed(submission))
  }

  /** Captures a mail that a simulated recipient received. */
  capture(received: Submission & { readonly draft: ContentDraftInStore }): Promise<Acceptance> {
    return super.accept(received)
  }

  #routed<S extends Submission>(submission: S): S {
    const { principal, rcptTo, door, destinationId, environment, isTest, isProof, release } = submission
    const place = this.#place
    if (place?.organizationId !== principal.organizationId || destinationId !== undefined || environment !== undefined) return submission
    if (isTest || isProof || release || !rcptTo.some((address) => needsDelivery(address, door))) return submission
    return { ...submission, destinationId: place.destinationId }
  }
}

function needsDelivery(address: string, door: Submission['door']): boolean {
  const fault = faultOf(address)
  return fault !== undefined && !(door === 'smtp' && seenAtSubmission.has(fault.kind))
}
