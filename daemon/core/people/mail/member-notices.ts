/** Sends mail to members of an organization for rows in the store. The write that stores the mail also deletes the row. */
import type { Entry } from '#store/kv.ts'
import { within, type Element } from '#store/tuple.ts'
import { scopesOfRole, type RoleScopes } from '../../access/principal/role.ts'
import type { Core } from '../../core.ts'
import { WorkLoop } from '../../work-loop.ts'
import { members } from '../members/member.ts'
import { userById, type User } from '../users/user.ts'
import type { Outbox } from './outbox.ts'
import type { SystemMail } from './system-mail.ts'

export interface MemberNoticesOptions extends Core {
  readonly mail: SystemMail
  readonly outbox: Outbox
  readonly onError: (error: unknown) => void
}

interface Asked {
  /** Work name that a write announces when it adds a row; see `Database.onWork`. */
  readonly work: string
  /** Key prefix of the rows. */
  readonly prefix: readonly Element[]
  /** Stores the mail and deletes the row in one write, so that a crash causes no second mail. */
  readonly notify: (row: Entry) => Promise<void>
}

/** Mail goes to at most this number of members. */
const maxRecipients = 50

export class MemberNotices extends WorkLoop {
  constructor({ database, clock, outbox, onError }: MemberNoticesOptions, { work, prefix, notify }: Asked) {
    const round = async (stopping: () => boolean): Promise<void> => {
      const failures: unknown[] = []
      for await (const row of database.kv.range(within(prefix))) {
        if (stopping()) return
        await notify(row).catch((error: unknown) => failures.push(error)) // continues with the next rows; the retry repeats this row
      }
      outbox.wake()
      if (failures.length > 0) throw new AggregateError(failures, 'Mail to members could not be stored.')
    }
    super({ clock, round, onError })
    database.onWork(work, () => this.wake())
  }

  /** Also processes rows that remain from before a crash. */
  start(): void {
    this.wake()
  }
}

/** Returns members whose role satisfies `may`, at most `maxRecipients`. */
export async function membersWho(
  database: Core['database'],
  organizationId: string,
  may: (scopes: RoleScopes) => boolean,
): Promise<User[]> {
  const all = await database.all(members, { organizationId })
  const chosen = all.filter(({ record: { role } }) => may(scopesOfRole(role))).slice(0, maxRecipients)
  const users = await Promise.all(chosen.map(({ record }) => userById(database, record.id)))
  return users.filter((user) => user !== undefined)
}
