/** Mail to the members who see billing, when credits are nearly used up: one for each share of them that is reached. */
import { unpack, within } from '#store/tuple.ts'
import { alertPercentOf, creditAlertKey, creditAlertPrefix, creditAlertWork } from '../../billing/credits/alert.ts'
import { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import { scopesOfRole } from '../../access/principal/role.ts'
import { organizations } from '../../tenancy/organization.ts'
import { WorkLoop } from '../../work-loop.ts'
import { members } from '../members/member.ts'
import { userById } from '../users/user.ts'
import { creditMail } from './mail-texts.ts'
import type { Outbox } from './outbox.ts'
import type { SystemMail } from './system-mail.ts'

export interface CreditNoticesOptions extends Core {
  readonly mail: SystemMail
  readonly outbox: Outbox
  readonly onError: (error: unknown) => void
}

/** Members beyond these are not sent a mail. */
const maxRecipients = 50

export class CreditNotices {
  readonly #options: CreditNoticesOptions
  readonly #loop: WorkLoop

  constructor(options: CreditNoticesOptions) {
    this.#options = options
    this.#loop = new WorkLoop({ round: () => this.#round(), onError: options.onError })
    options.database.onWork(creditAlertWork, () => this.#loop.wake())
  }

  /** Also what a crash has left. */
  start(): void {
    this.#loop.wake()
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return this.#loop.idle()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #round(): Promise<void> {
    const { database, outbox, onError } = this.#options
    for await (const { key, value, version } of database.kv.range(within(creditAlertPrefix))) {
      if (this.#loop.stopping) return
      const organizationId = String(unpack(key).at(-1))
      try {
        await this.#notify(organizationId, alertPercentOf(value), version)
      } catch (error) {
        onError(error) // those behind it go on; it is tried again with the next
      }
    }
    outbox.wake()
  }

  /** In one write, so that a crash sends no second mail. One that changed meanwhile is found again. */
  async #notify(organizationId: string, percent: number, version: bigint): Promise<void> {
    const { database, mail, outbox } = this.#options
    const key = creditAlertKey(organizationId)
    const change = new Change().check(key, version).delete(key)
    const organization = (await database.get(organizations, { organizationId }, organizationId))?.record
    if (organization && organization.deletedAt === undefined && (await mail.isReady())) {
      const text = creditMail(organization.name, percent, mail.urlOf(`/organizations/${organizationId}/usage`))
      for (const email of await this.#recipients(organizationId)) await outbox.add(change, email, text)
    }
    await database.commit(change)
  }

  async #recipients(organizationId: string): Promise<readonly string[]> {
    const { database } = this.#options
    const all = await database.all(members, { organizationId })
    const chosen = all.filter(({ record: { role } }) => scopesOfRole(role).seesBilling).slice(0, maxRecipients)
    const users = await Promise.all(chosen.map(({ record }) => userById(database, record.id)))
    return users.flatMap((user) => (user ? [user.email] : []))
  }
}
