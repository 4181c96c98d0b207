/** Ends running attempts and acceptances of deleted projects and organizations, at all daemons that share the store. */
import type { Daemons } from '#store/daemons/daemons.ts'
import type { Attempts } from '../delivery/attempt/attempt.ts'
import type { Accept } from '../submission/accept/accept.ts'

export interface EndingOptions {
  readonly daemons: Daemons
  readonly accept: Pick<Accept, 'settled'>
  readonly attempts: Pick<Attempts, 'breakOff'>
}

/** Topics between daemons. An item is an organization id, optionally with a project id. */
const [attemptsTopic, acceptancesTopic] = ['break off attempts', 'end acceptances']

export class Endings {
  readonly #options: EndingOptions

  constructor(options: EndingOptions) {
    this.#options = options
    options.daemons.onAsked(attemptsTopic, (places) => this.#breakOff(places))
    options.daemons.onAsked(acceptancesTopic, () => options.accept.settled())
  }

  /**
   * Aborts the attempts of these projects, or of the whole organization. Resolves when they have ended; later attempts see the deletion.
   */
  async ofAttempts(organizationId: string, projectIds?: ReadonlySet<string>): Promise<void> {
    const places = projectIds ? [...projectIds].map((id) => placeOf(organizationId, id)) : [placeOf(organizationId)]
    await Promise.all([this.#breakOff(places), this.#options.daemons.askOthers(attemptsTopic, places)])
  }

  /** Resolves when the running acceptances have ended; later acceptances see the deletion. */
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
