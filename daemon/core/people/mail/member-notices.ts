/** Mail to members of an organization that rows in the store ask for: a row goes in the write that its mail comes with. */
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
  /** Is named by writes that add a row. */
  readonly work: string
  /** Of the rows. */
  readonly prefix: readonly Element[]
  /** In one write, so that a crash sends no second mail. */
  readonly notify: (row: Entry) => Promise<void>
}

/** Members beyond these are not sent a mail. */
const maxRecipients = 50

export class MemberNotices extends WorkLoop {
  constructor({ database, clock, outbox, onError }: MemberNoticesOptions, { work, prefix, notify }: Asked) {
    const round = async (stopping: () => boolean): Promise<void> => {
      const failures: unknown[] = []
      for await (const row of database.kv.range(within(prefix))) {
        if (stopping()) return
        await notify(row).catch((error: unknown) => failures.push(error)) // the next rows are notified, and this one in the retry
      }
      outbox.wake()
      if (failures.length > 0) throw new AggregateError(failures, 'Mail to members could not be stored.')
    }
    super({ clock, round, onError })
    database.onWork(work, () => this.wake())
  }

  /** Also what a crash has left. */
  start(): void {
    this.wake()
  }
}

/** The members whose role allows it, as far as a mail is sent to them. */
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
