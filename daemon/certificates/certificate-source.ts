/** Where certificates come from while the daemon runs. */
import type { Part } from '../process/lifecycle.ts'
import type { ChallengeServer } from './acme/challenge-server.ts'
import type { Challenges } from './acme/challenges.ts'

/** What puts another certificate in place of the current one when it is time. */
export interface CertificateSource extends Pick<Part, 'start' | 'stop'> {
  /** Before the listeners open: takes what other daemons have ordered. */
  prepare?(): Promise<void>
  /** Looks now; for SIGHUP. Never throws: what is wrong is logged. */
  reload(): Promise<void>
}

export interface Certificates {
  readonly source: CertificateSource
  readonly challenges: Challenges
  /** The listener of HTTP-01; undefined when nothing is proved by it. */
  readonly challengeServer: ChallengeServer | undefined
}
