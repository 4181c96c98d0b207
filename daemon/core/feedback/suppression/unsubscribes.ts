/** One-click unsubscribe: the link in the message, what following it does, and who has opted out. RFC 8058, RFC 2369 §3.2. */
import type { Page } from '#store/database.ts'
import type { Core } from '../../core.ts'
import { requireReach } from '../../access/principal/organization-acts.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'
import { organizations } from '../../tenancy/organization.ts'
import { traceOfToken, traceToken } from '../../trace/trace-token.ts'
import { listReachable, sieve, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { transact } from '../../writes/transact.ts'
import { keptUnsubscribe, linkedMessage, type LinkedMessage } from './kept-unsubscribe.ts'
import { everyList, optOuts, type MailingList, type OptOut } from './opt-out.ts'
import { traces } from '../../trace/trace.ts'
import { foldEmail } from './suppression.ts'

export interface UnsubscribesOptions extends Core {
  /** Public address of the service, without a slash at the end. */
  readonly baseUrl: string
}

/** Who would be unsubscribed from what. */
export interface Subscription extends Pick<LinkedMessage, 'recipient' | 'sender'> {
  readonly list: MailingList
  /** The recipient has left the list already. */
  readonly isUnsubscribed: boolean
}

/** What a list is narrowed to; `projectId` is the project of the message whose link was followed. */
export interface OptOutFilter extends OfProject {
  /** The name of a list, or the address of a sender, in any case. */
  readonly list?: string | undefined
  /** A part of the address, in any case. */
  readonly q?: string | undefined
}

export type LinkScope = 'public' | 'local'

const purpose = 'unsubscribe.v1'

export class Unsubscribes implements List<OptOutFilter, OptOut> {
  readonly #options: UnsubscribesOptions

  constructor(options: UnsubscribesOptions) {
    this.#options = options
  }

  /** Who can follow a link: anybody, over https as RFC 8058 §3.1 wants it, or only who is near this service. */
  get reach(): LinkScope {
    return this.#options.baseUrl.startsWith('https://') ? 'public' : 'local'
  }

  /** The header fields of a message with one recipient. Only this service can make the link, which contains no address. */
  fieldsFor(traceId: string): readonly { readonly name: string; readonly value: string }[] {
    const { secrets, baseUrl } = this.#options
    return [
      { name: 'List-Unsubscribe', value: `<${baseUrl}/unsubscribe/${traceToken(secrets, purpose, traceId)}>` },
      { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
    ]
  }

  /** Whom and what the link is about; changes nothing, as links are followed by scanners too. Throws `not_found`. */
  async look(token: string): Promise<Subscription> {
    const message = await this.#find(token)
    return { ...message, isUnsubscribed: (await this.#standing(message)) !== undefined }
  }

  /** Takes the recipient off the list of the message; again, it changes nothing. Throws `not_found`. */
  async unsubscribe(token: string): Promise<Subscription> {
    const { database, clock } = this.#options
    const message = await this.#find(token)
    const { organizationId, projectId, traceId, recipient, list } = message
    const done = { ...message, isUnsubscribed: true }
    // links work longer than a deleted organization is kept
    if (!(await database.get(organizations, { organizationId }, organizationId))) return done
    const now = clock.now()
    const ownerId = list.key.startsWith('name:') ? projectId : null
    const entry = {
      id: database.newId('uns', now),
      email: foldEmail(recipient),
      list: list.key,
      name: list.name,
      ownerId,
      projectId,
      traceId,
    }
    await transact(database, { organizationId }, async (change) => {
      if (!(await this.#standing(message))) change.insert(optOuts, organizationId, { ...entry, createdAt: now })
    })
    return done
  }

  /** Newest first. A page can be short although there is more: then it has a cursor. Throws `not_found`. */
  list(principal: Principal, query: PageQuery & OptOutFilter): Promise<Page<OptOut>> {
    return listReachable(this.#options, optOuts, principal, query, (projectId) => ({
      sieve: sieve((entry) => passes(entry, { ...query, projectId })),
    }))
  }

  /**
   * Lets mail of the list go to the recipient again; an entry that is not there is none, too, and a key of one project sees only
   * those whose link was in a message of its own.
   */
  async remove(principal: Principal, id: string): Promise<void> {
    const reach = requireReach(principal, 'unsubscribes.end')
    const { database, audit } = this.#options
    await transact(database, principal, async (change) => {
      const stored = await change.get(optOuts, id)
      if (!stored || (reach !== 'all' && stored.record.projectId !== principal.projectId)) return
      change.remove(optOuts, principal.organizationId, stored)
      audit.recordChanges(change, principal, 'unsubscribe.removed')
    })
  }

  /** Who left every list has left this one. */
  async #standing({ organizationId, recipient, list }: LinkedMessage): Promise<unknown> {
    const values = [list.key, everyList].map((key) => [foldEmail(recipient), key])
    return (await this.#options.database.findMany(optOuts, { organizationId }, 'listed', values)).find((one) => one !== undefined)
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

function passes({ email, name, list, projectId }: OptOut, filter: OptOutFilter): boolean {
  const wanted = filter.list === undefined ? undefined : foldEmail(filter.list)
  return (
    (wanted === undefined || (list !== everyList && foldEmail(name ?? '') === wanted)) &&
    (filter.projectId === undefined || projectId === filter.projectId) &&
    (filter.q === undefined || email.includes(foldEmail(filter.q)))
  )
}
