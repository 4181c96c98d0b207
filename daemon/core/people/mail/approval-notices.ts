/** Mail to the members who can approve what an agent sends: one while it waits, for a project with its partitions. */
import { Change, decode, encode } from '#store/change.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { scopesOfRole } from '../../access/principal/role.ts'
import { hasScope } from '../../access/principal/principal.ts'
import { approvalPath, askedKey, askedPrefix, askedWork } from '../../trace/approval/asked.ts'
import { approvalMs, waitsForApproval } from '../../trace/approval/held-trace.ts'
import type { Project } from '../../tenancy/organization.ts'
import { traces } from '../../trace/trace.ts'
import { WorkLoop } from '../../work-loop.ts'
import { transact } from '../../writes/transact.ts'
import { members } from '../members/member.ts'
import { userById, type User } from '../users/user.ts'
import { approvalMail } from './mail-texts.ts'
import type { Outbox } from './outbox.ts'
import type { SystemMail } from './system-mail.ts'

export interface ApprovalNoticesOptions extends Core {
  readonly mail: SystemMail
  readonly outbox: Outbox
  readonly onError: (error: unknown) => void
}

/** Which message members were sent a mail about, and when. */
type Mailed = readonly [traceId: string, at: number]

/** One for a project with its partitions. */
const mailedKey = (organizationId: string, { id, parentId }: Pick<Project, 'id' | 'parentId'>): readonly Element[] => [
  organizationId,
  'approval.mailed',
  parentId ?? id,
]

/** Members beyond these are not sent a mail. */
const maxRecipients = 50

export class ApprovalNotices {
  readonly #options: ApprovalNoticesOptions
  readonly #loop: WorkLoop

  constructor(options: ApprovalNoticesOptions) {
    this.#options = options
    this.#loop = new WorkLoop({ round: () => this.#round(), onError: options.onError })
    options.database.onWork(askedWork, () => this.#loop.wake())
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
    const { database, mail, outbox, onError } = this.#options
    for await (const { key } of database.kv.range(within(askedPrefix))) {
      if (this.#loop.stopping) return
      const [organizationId = '', traceId = ''] = unpack(key).slice(askedPrefix.length).map(String)
      try {
        if (await mail.isReady()) await this.#notify(organizationId, traceId)
        else await database.commit(new Change().delete(askedKey(organizationId, traceId)))
      } catch (error) {
        onError(error) // those behind it go on; it is tried again with the next
      }
    }
    outbox.wake()
  }

  /** In one write, so that a crash sends no second mail. */
  async #notify(organizationId: string, traceId: string): Promise<void> {
    const { database, policies, clock, mail, outbox } = this.#options
    await transact(database, { organizationId }, async (change) => {
      change.delete(askedKey(organizationId, traceId))
      const stored = await change.get(traces, traceId)
      const { projects } = await policies.of(organizationId)
      const project = projects.get(stored?.record.projectId ?? '')
      if (!stored || !project || !waitsForApproval(stored.record)) return
      const key = mailedKey(organizationId, project)
      const row = await database.kv.get(pack(key))
      if (row && (await this.#isUnderWay(organizationId, decode<Mailed>(row.value)))) return
      // agents name partitions
      const { name } = projects.get(project.parentId ?? '') ?? project
      const text = approvalMail(name, mail.urlOf(approvalPath(organizationId, traceId)))
      for (const { email } of await this.#approvers(organizationId)) await outbox.add(change, email, text)
      const now = clock.now()
      change
        .check(key, row?.version)
        .set(key, encode([traceId, now] satisfies Mailed))
        .expire(now + approvalMs, key)
    })
  }

  /** Until somebody has decided about that message, or its time is over: an agent that takes it back and asks again makes no mail. */
  async #isUnderWay(organizationId: string, [traceId, at]: Mailed): Promise<boolean> {
    if (at + approvalMs <= this.#options.clock.now()) return false
    const decision = (await this.#options.database.get(traces, { organizationId }, traceId))?.record.approval?.decision?.as
    return decision !== 'approved' && decision !== 'refused'
  }

  async #approvers(organizationId: string): Promise<readonly User[]> {
    const { database } = this.#options
    const all = await database.all(members, { organizationId })
    const approving = all.filter(({ record: { role } }) => hasScope(scopesOfRole(role), 'api:send')).slice(0, maxRecipients)
    const users = await Promise.all(approving.map(({ record }) => userById(database, record.id)))
    return users.filter((user) => user !== undefined).filter(({ noApprovalMail }) => noApprovalMail !== true)
  }
}
