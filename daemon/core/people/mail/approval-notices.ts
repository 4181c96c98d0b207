/** Mails to members who can approve messages of agents. A project and its partitions get at most one mail while a message waits. */
import { Change, decode, encode } from '#store/change.ts'
import { pack, unpack, type Element } from '#store/tuple.ts'
import { hasScope } from '../../access/principal/principal.ts'
import { approvalPath, askedKey, askedPrefix, askedWork } from '../../trace/approval/asked.ts'
import { approvalMs, waitsForApproval } from '../../trace/approval/held-trace.ts'
import type { Project } from '../../tenancy/organization.ts'
import { traces } from '../../trace/trace.ts'
import { transact } from '../../writes/transact.ts'
import { approvalMail } from './mail-texts.ts'
import { MemberNotices, membersWho, type MemberNoticesOptions } from './member-notices.ts'

/** Message of the latest mail, and the time of that mail. */
type Mailed = readonly [traceId: string, at: number]

/** One row for a project and its partitions. */
const mailedKey = (organizationId: string, { id, parentId }: Pick<Project, 'id' | 'parentId'>): readonly Element[] => [
  organizationId,
  'approval.mailed',
  parentId ?? id,
]

export const approvalNotices = (options: MemberNoticesOptions): MemberNotices =>
  new MemberNotices(options, {
    ...{ work: askedWork, prefix: askedPrefix },
    async notify({ key }) {
      const { database, mail } = options
      const [organizationId = '', traceId = ''] = unpack(key).slice(askedPrefix.length).map(String)
      if (await mail.isReady()) await notify(options, organizationId, traceId)
      else await database.commit(new Change().delete(askedKey(organizationId, traceId)))
    },
  })

async function notify(options: MemberNoticesOptions, organizationId: string, traceId: string): Promise<void> {
  const { database, policies, clock, mail, outbox } = options
  await transact(database, { organizationId }, async (change) => {
    change.delete(askedKey(organizationId, traceId))
    const stored = await change.get(traces, traceId)
    const { projects } = await policies.of(organizationId)
    const project = projects.get(stored?.record.projectId ?? '')
    if (!stored || !project || !waitsForApproval(stored.record)) return
    const key = mailedKey(organizationId, project)
    const row = await database.kv.get(pack(key))
    if (row && (await isUnderWay(options, organizationId, decode<Mailed>(row.value)))) return
    // agents choose the names of partitions, so the mail names the parent project
    const { name } = projects.get(project.parentId ?? '') ?? project
    const text = approvalMail(name, mail.urlOf(approvalPath(organizationId, traceId)))
    const approvers = await membersWho(database, organizationId, ({ scopes }) => hasScope({ scopes }, 'api:send'))
    for (const { email, noApprovalMail } of approvers) if (noApprovalMail !== true) await outbox.add(change, email, text)
    const now = clock.now()
    change
      .check(key, row?.version)
      .set(key, encode([traceId, now] satisfies Mailed))
      .expire(now + approvalMs, key)
  })
}

/**
 * Returns whether the mailed message is still undecided and within the approval period. An agent that withdraws the message and submits
 * another one therefore causes no further mail.
 */
async function isUnderWay({ database, clock }: MemberNoticesOptions, organizationId: string, [traceId, at]: Mailed): Promise<boolean> {
  if (at + approvalMs <= clock.now()) return false
  const decision = (await database.get(traces, { organizationId }, traceId))?.record.approval?.decision?.as
  return decision !== 'approved' && decision !== 'refused'
}
