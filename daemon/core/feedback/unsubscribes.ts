/** One-click unsubscribe: the link in the message, and what following it does. RFC 8058, RFC 2369 §3.2. */
import type { Database } from '#store/database.ts'
import { newId } from '#store/ids.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import { organizations } from '../tenancy/organization.ts'
import { traceOfToken, traceToken } from '../trace/trace-token.ts'
import { keptUnsubscribe, linkedMessage, type LinkedMessage } from './kept-unsubscribe.ts'
import { traces } from '../trace/trace.ts'
import { placeSuppressions } from './place.ts'
import { foldEmail } from './suppression.ts'

export interface UnsubscribesOptions {
  readonly database: Database
  readonly secrets: SecretBox
  readonly clock: Clock
  /** Public address of the service, without a slash at the end. */
  readonly baseUrl: string
}

/** Who would be unsubscribed from whom. */
export type Subscription = Pick<LinkedMessage, 'recipient' | 'sender'>

export type LinkReach = 'public' | 'local'

const purpose = 'unsubscribe.v1'

export class Unsubscribes {
  readonly #options: UnsubscribesOptions

  constructor(options: UnsubscribesOptions) {
    this.#options = options
  }

  /** Who can follow a link: anybody, over https as RFC 8058 §3.1 wants it, or only who is near this service. */
  get reach(): LinkReach {
    return this.#options.baseUrl.startsWith('https://') ? 'public' : 'local'
  }

  /** The header fields of a message with one recipient. Only this service can make the link, and it names nobody. */
  fieldsFor(traceId: string): readonly { readonly name: string; readonly value: string }[] {
    const { secrets, baseUrl } = this.#options
    return [
      { name: 'List-Unsubscribe', value: `<${baseUrl}/unsubscribe/${traceToken(secrets, purpose, traceId)}>` },
      { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
    ]
  }

  /** Whom the link is about; changes nothing, as links are followed by scanners too. Throws `not_found`. */
  async look(token: string): Promise<Subscription> {
    const { recipient, sender } = await this.#find(token)
    return { recipient, sender }
  }

  /** Puts the recipient on the suppression list of the sender's organization; again, it changes nothing. Throws `not_found`. */
  async unsubscribe(token: string): Promise<Subscription> {
    const { database, clock } = this.#options
    const { organizationId, projectId, traceId, recipient, sender } = await this.#find(token)
    // links work longer than a deleted organization is kept
    if (!(await database.get(organizations, { organizationId }, organizationId))) return { recipient, sender }
    const now = clock.now()
    const entry = {
      id: newId('sup', now),
      email: foldEmail(recipient),
      reason: `Unsubscribed by the link in the message ${traceId}.`,
      projectId,
      source: 'unsubscribe' as const,
      expiresAt: null,
      createdAt: now,
    }
    await placeSuppressions(database, organizationId, [entry], now)
    return { recipient, sender }
  }

  async #find(token: string): Promise<LinkedMessage> {
    const { database, secrets } = this.#options
    const traceId = traceOfToken(secrets, purpose, token)
    if (traceId !== undefined) {
      const found = await database.lookup(traces, 'id', [traceId])
      const message = found ? linkedMessage(found.organizationId, found.record) : await keptUnsubscribe(database, traceId)
      if (message) return message
    }
    throw new Refusal('not_found', 'This unsubscribe link is not valid; it may have been cut off.')
  }
}
