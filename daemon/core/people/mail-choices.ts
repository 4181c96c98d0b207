/** Settings for optional mail of the service to a user. Sign-in links and notices about the account are always sent. */
import type { Core } from '../core.ts'
import type { Principal } from '../access/principal/principal.ts'
import { must } from '../writes/transact.ts'
import { peoplePartition, userById, users } from './users/user.ts'

/** Each field is null for keys and applications, which receive no mail. */
export interface MailChoice {
  /** Whether the user gets mail when a message of an agent waits for approval. */
  readonly approvals: boolean | null
  /** Whether the user gets alerts about findings, as a member who administers the organization or sees billing. */
  readonly alerts: boolean | null
}

export class MailChoices {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  async of(principal: Principal): Promise<MailChoice> {
    const userId = personOf(principal)
    const user = userId === undefined ? undefined : await userById(this.#core.database, userId)
    return { approvals: user ? user.noApprovalMail !== true : null, alerts: user ? user.noAlertMail !== true : null }
  }

  /** Omitted fields keep their values. */
  async change(
    principal: Principal,
    { approvals, alerts }: { readonly [Key in keyof MailChoice]?: boolean | undefined },
  ): Promise<MailChoice> {
    const { database, writes } = this.#core
    const userId = personOf(principal)
    if (userId !== undefined && (approvals ?? alerts) !== undefined)
      await writes.run(peoplePartition, async (change) => {
        const stored = await must(database, users, { organizationId: peoplePartition }, userId)
        const { noApprovalMail, noAlertMail, ...rest } = stored.record
        const declines = { approvals: !(approvals ?? noApprovalMail !== true), alerts: !(alerts ?? noAlertMail !== true) }
        change.rewrite(users, peoplePartition, stored, {
          ...rest,
          ...(declines.approvals && { noApprovalMail: true as const }),
          ...(declines.alerts && { noAlertMail: true as const }),
        })
      })
    return this.of(principal)
  }
}

/** Returns the signed-in user. Returns undefined for keys and for applications, which only act for a user. */
const personOf = ({ holder }: Principal): string | undefined =>
  holder?.kind === 'user' && holder.application === undefined ? holder.userId : undefined
