/** Ends what is under way for something that was deleted, at all daemons that share the store. */
import type { Daemons } from '#store/daemons/daemons.ts'
import type { Attempts } from '../delivery/attempt/attempt.ts'
import type { Accept } from '../submission/accept/accept.ts'

export interface EndingOptions {
  readonly daemons: Daemons
  readonly accept: Pick<Accept, 'settled'>
  readonly attempts: Pick<Attempts, 'breakOff'>
}

/** Topics between daemons; their items are places. */
const [attemptsTopic, acceptancesTopic] = ['break off attempts', 'end acceptances']

export class Endings {
  readonly #options: EndingOptions

  constructor(options: EndingOptions) {
    this.#options = options
    options.daemons.onAsked(attemptsTopic, (places) => this.#breakOff(places))
    options.daemons.onAsked(acceptancesTopic, () => options.accept.settled())
  }

  /**
   * Breaks off the attempts of these projects, or of the whole organization; resolves when they have ended. Those that begin later see the
   * deletion.
   */
  async ofAttempts(organizationId: string, projectIds?: ReadonlySet<string>): Promise<void> {
    const places = projectIds ? [...projectIds].map((id) => placeOf(organizationId, id)) : [placeOf(organizationId)]
    await Promise.all([this.#breakOff(places), this.#options.daemons.askOthers(attemptsTopic, places)])
  }

  /** Resolves when the acceptances that are under way have ended; those that begin later see the deletion. */
  async ofAcceptances(): Promise<void> {
    const { daemons, accept } = this.#options
    await Promise.all([accept.settled(), daemons.askOthers(acceptancesTopic, [''])])
  }

  async #breakOff(places: readonly string[]): Promise<void> {
    const { attempts } = this.#options
    await Promise.all(
      places.map((place) => {
        const [organizationId = '', projectId] = place.split(' ')
        return attempts.breakOff(organizationId, projectId === undefined ? undefined : new Set([projectId]))
      }),
    )
  }
}

const placeOf = (organizationId: string, projectId?: string): string =>
  projectId === undefined ? organizationId : `${organizationId} ${projectId}`
