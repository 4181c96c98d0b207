/** Moves a resource to another project of its organization, by the rules of its kind. Spec "Project rules" 5. */
import type { Database } from '#store/database.ts'
import { owningProject } from '../access/project-choice.ts'
import type { Scope } from '../access/scope.ts'
import type { SmtpCredentials } from '../access/smtp-credentials.ts'
import { inboxes } from '../capture/capture.ts'
import type { InboundRoutes } from '../inbound-routes/inbound-routes.ts'
import { Refusal, type FieldProblem } from '../refusals.ts'
import type { Destinations } from '../routing/destinations.ts'
import type { Policies } from '../routing/policy.ts'
import type { SettingWrites } from '../setting-writes.ts'
import type { Templates } from '../templates/templates.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'

export interface MoveOptions {
  readonly database: Database
  readonly writes: SettingWrites
  readonly policies: Policies
  readonly destinations: Destinations
  readonly smtpCredentials: SmtpCredentials
  readonly templates: Templates
  readonly webhooks: Webhooks
  readonly inboundRoutes: InboundRoutes
}

/** What moves; traces and organization-wide destinations never do. */
export const movableTypes = [
  'email_template',
  'inbound_route',
  'smtp_credential',
  'virtual_inbox',
  'webhook_endpoint',
  'destination',
] as const
export type MovableType = (typeof movableTypes)[number]

export interface MoveRequest {
  readonly type: MovableType
  readonly id: string
  readonly projectId: string
}

/** What does not work any more where the resource is now; each names its field. */
export type MoveWarnings = readonly FieldProblem[]

type Move = (options: MoveOptions, scope: Scope, id: string, projectId: string) => Promise<MoveWarnings>

const moves: Readonly<Record<MovableType, Move>> = {
  async destination({ destinations }, scope, id, projectId) {
    await destinations.update(scope, id, { place: { projectId } })
    return []
  },
  async smtp_credential({ smtpCredentials }, scope, id, projectId) {
    return (await smtpCredentials.update(scope, id, { projectId })).warnings
  },
  async email_template({ templates }, scope, id, projectId) {
    await templates.move(scope, id, projectId)
    return []
  },
  async inbound_route({ inboundRoutes }, scope, id, projectId) {
    await inboundRoutes.update(scope, id, { projectId })
    return []
  },
  virtual_inbox: moveInbox,
  async webhook_endpoint({ webhooks }, scope, id, projectId) {
    await webhooks.update(scope, id, { projectId })
    return []
  },
}

/**
 * One write, which changes nothing when the resource is there already. Throws `not_found` alike for missing and foreign projects
 * and resources; `conflict` for a destination that something names, and for a slug or pattern that is taken in the project; and
 * `validation_failed` for an organization-wide destination.
 */
export const moveResource = (options: MoveOptions, scope: Scope, { type, id, projectId }: MoveRequest): Promise<MoveWarnings> =>
  moves[type](options, scope, id, projectId)

async function moveInbox({ database, writes, policies }: MoveOptions, scope: Scope, id: string, to: string): Promise<MoveWarnings> {
  const { organizationId } = scope
  return writes.act(scope, 'inbox.moved', async (change) => {
    const projectId = owningProject(scope, (await policies.of(organizationId)).projects, to)
    const stored = await database.get(inboxes, scope, id)
    if (!stored) throw new Refusal('not_found', 'No virtual inbox has this id.')
    const { record } = stored
    if (record.projectId === projectId) return []
    const other = await database.find(inboxes, { organizationId }, 'pattern', [projectId, record.addressPattern])
    if (other) {
      const message = `Another inbox of that project has the pattern ${record.addressPattern}; change or delete one of them first.`
      throw new Refusal('conflict', message, { details: { inbox_id: other.record.id } })
    }
    change.replace(inboxes, organizationId, stored, { ...record, projectId })
    return []
  })
}
