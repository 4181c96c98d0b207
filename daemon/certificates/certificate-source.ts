/** Interface of certificate sources of a running daemon. */
import type { Part } from '../process/lifecycle.ts'
import type { ChallengeServer } from './acme/challenge-server.ts'
import type { Challenges } from './acme/challenges.ts'

/** Replaces the current certificate when necessary. */
export interface CertificateSource extends Pick<Part, 'start' | 'stop'> {
  /** Loads certificates that other daemons have ordered. Called before the listeners open. */
  prepare?(): Promise<void>
  /** Checks for a new certificate now (SIGHUP). Never throws; logs problems. */
  reload(): Promise<void>
}

export interface Certificates {
  readonly source: CertificateSource
  readonly challenges: Challenges
  /** Listener for HTTP-01; undefined if that challenge is not used. */
  readonly challengeServer: ChallengeServer | undefined
}
