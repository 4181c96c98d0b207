/** Which mails of the service somebody wants: those that a person may do without. Sign-in links and news about the account always come. */
import type { Core } from '../core.ts'
import type { Principal } from '../access/principal/principal.ts'
import { must } from '../writes/transact.ts'
import { peoplePartition, userById, users } from './users/user.ts'

/** Null for keys and applications, which get no mail. */
export interface MailChoice {
  /** A mail while a message of an agent waits for an approval. */
  readonly approvals: boolean | null
}

export class MailChoices {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  async of(principal: Principal): Promise<MailChoice> {
    const userId = personOf(principal)
    const user = userId === undefined ? undefined : await userById(this.#core.database, userId)
    return { approvals: user ? user.noApprovalMail !== true : null }
  }

  /** What is left out keeps its value. */
  async change(principal: Principal, { approvals }: { readonly approvals?: boolean | undefined }): Promise<MailChoice> {
    const { database, writes } = this.#core
    const userId = personOf(principal)
    if (userId !== undefined && approvals !== undefined)
      await writes.run(peoplePartition, async (change) => {
        const stored = await must(database, users, { organizationId: peoplePartition }, userId)
        const { noApprovalMail: _, ...rest } = stored.record
        change.rewrite(users, peoplePartition, stored, { ...rest, ...(!approvals && { noApprovalMail: true as const }) })
      })
    return this.of(principal)
  }
}

/** The person who is signed in; undefined for keys, and for applications, which act for a person. */
const personOf = ({ holder }: Principal): string | undefined =>
  holder?.kind === 'user' && holder.application === undefined ? holder.userId : undefined
