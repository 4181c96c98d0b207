/** One-click unsubscribe: creates the links, handles requests to them, and lists opt-outs. RFC 8058, RFC 2369 §3.2. */
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
  /** Public address of the service, without a trailing slash. */
  readonly baseUrl: string
}

/** The recipient and the list of an unsubscribe link. */
export interface Subscription extends Pick<LinkedMessage, 'recipient' | 'sender'> {
  readonly list: MailingList
  /** The recipient has already left the list. */
  readonly isUnsubscribed: boolean
}

/** Filter of a list; `projectId` is the project of the message with the followed link. */
export interface OptOutFilter extends OfProject {
  /** Name of a list or address of a sender, case-insensitive. */
  readonly list?: string | undefined
  /** Part of the address, case-insensitive. */
  readonly q?: string | undefined
}

export type LinkScope = 'public' | 'local'

const purpose = 'unsubscribe.v1'

export class Unsubscribes implements List<OptOutFilter, OptOut> {
  readonly #options: UnsubscribesOptions

  constructor(options: UnsubscribesOptions) {
    this.#options = options
  }

  /**
   * Where links work. `public`: the service has an https address, as RFC 8058 §3.1 requires. `local`: its address has no https, so links
   * only work in a local network.
   */
  get reach(): LinkScope {
    return this.#options.baseUrl.startsWith('https://') ? 'public' : 'local'
  }

  /** Returns the header fields for a message with one recipient. The link contains no address, and only this service can create it. */
  fieldsFor(traceId: string): readonly { readonly name: string; readonly value: string }[] {
    const { secrets, baseUrl } = this.#options
    return [
      { name: 'List-Unsubscribe', value: `<${baseUrl}/unsubscribe/${traceToken(secrets, purpose, traceId)}>` },
      { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
    ]
  }

  /** Returns the recipient and the list of a link. Changes nothing, because scanners follow links too. Throws `not_found`. */
  async look(token: string): Promise<Subscription> {
    const message = await this.#find(token)
    return { ...message, isUnsubscribed: (await this.#standing(message)) !== undefined }
  }

  /** Removes the recipient from the list of the message. A repeated call changes nothing. Throws `not_found`. */
  async unsubscribe(token: string): Promise<Subscription> {
    const { database, clock } = this.#options
    const message = await this.#find(token)
    const { organizationId, projectId, traceId, recipient, list } = message
    const done = { ...message, isUnsubscribed: true }
    // links work longer than a deleted organization is stored
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

  /**
   * Adds the recipient to the list of the message again. Does nothing for a recipient who did not leave this list, and keeps an opt-out
   * from every list. Throws `not_found`.
   */
  async resubscribe(token: string): Promise<Subscription> {
    const { database } = this.#options
    const message = await this.#find(token)
    const { organizationId, recipient, list } = message
    await transact(database, { organizationId }, async (change) => {
      const [stored] = await database.findMany(optOuts, { organizationId }, 'listed', [[foldEmail(recipient), list.key]])
      if (stored) change.remove(optOuts, organizationId, stored)
    })
    return { ...message, isUnsubscribed: (await this.#standing(message)) !== undefined }
  }

  /** Lists opt-outs, newest first. A page can be short and still have a cursor to more entries. Throws `not_found`. */
  list(principal: Principal, query: PageQuery & OptOutFilter): Promise<Page<OptOut>> {
    return listReachable(this.#options, optOuts, principal, query, (projectId) => ({
      sieve: sieve((entry) => passes(entry, { ...query, projectId })),
    }))
  }

  /**
   * Removes an opt-out, so that mail of the list is delivered again. Does nothing for a missing entry. A key of one project can only remove
   * opt-outs from links in its own messages.
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

  /** Finds the opt-out from this list or from every list. */
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
