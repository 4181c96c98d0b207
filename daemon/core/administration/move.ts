/** Moves a resource to another project of its organization, by the rules of its kind. Spec "Project rules" 5. */
import type { Principal } from '../access/principal/principal.ts'
import type { SmtpCredentials } from '../access/smtp-credentials.ts'
import type { Forms } from '../forms/forms.ts'
import type { InboxSettings } from '../capture/inboxes/inbox-settings.ts'
import type { InboundRoutes } from '../inbound-routes/inbound-routes.ts'
import type { FieldProblem } from '../refusals.ts'
import type { Destinations } from '../routing/destinations/destinations.ts'
import type { Templates } from '../templates/templates.ts'
import type { Webhooks } from '../webhooks/endpoints/webhooks.ts'

export interface MoveOptions {
  readonly destinations: Destinations
  readonly smtpCredentials: SmtpCredentials
  readonly templates: Templates
  readonly formMoves: Pick<Forms, 'move'>
  readonly webhooks: Webhooks
  readonly inboxSettings: InboxSettings
  readonly inboundRoutes: InboundRoutes
}

/** What moves; traces and organization-wide destinations never do. */
export const movableTypes = [
  'form',
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

type Move = (options: MoveOptions, principal: Principal, id: string, projectId: string) => Promise<MoveWarnings>

const moves: Readonly<Record<MovableType, Move>> = {
  async destination({ destinations }, principal, id, projectId) {
    await destinations.update(principal, id, { ownership: { projectId } })
    return []
  },
  async smtp_credential({ smtpCredentials }, principal, id, projectId) {
    return (await smtpCredentials.update(principal, id, { projectId })).warnings
  },
  async email_template({ templates }, principal, id, projectId) {
    await templates.move(principal, id, projectId)
    return []
  },
  async form({ formMoves }, principal, id, projectId) {
    await formMoves.move(principal, id, projectId)
    return []
  },
  async inbound_route({ inboundRoutes }, principal, id, projectId) {
    await inboundRoutes.update(principal, id, { projectId })
    return []
  },
  async virtual_inbox({ inboxSettings }, principal, id, projectId) {
    await inboxSettings.update(principal, id, { projectId })
    return []
  },
  async webhook_endpoint({ webhooks }, principal, id, projectId) {
    await webhooks.update(principal, id, { projectId })
    return []
  },
}

/**
 * One write, which changes nothing when the resource is there already. Throws `not_found` alike for missing and foreign projects
 * and resources; `conflict` for a destination that something names, and for a slug or pattern that is taken in the project; and
 * `validation_failed` for an organization-wide destination.
 */
export const moveResource = (options: MoveOptions, principal: Principal, { type, id, projectId }: MoveRequest): Promise<MoveWarnings> =>
  moves[type](options, principal, id, projectId)
