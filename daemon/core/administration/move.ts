/** Moves a resource to another project of its organization, by the rules of its kind. Spec "Project rules" 5. */
import type { Feature } from '#config/plans/features.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { SmtpCredentials } from '../access/smtp-credentials.ts'
import type { Forms } from '../forms/forms.ts'
import type { InboxSettings } from '../capture/inboxes/inbox-settings.ts'
import type { InboundRoutes } from '../inbound-routes/inbound-routes.ts'
import { requireFlag } from '../plan/features.ts'
import type { FieldProblem } from '../refusals.ts'
import type { Destinations } from '../routing/destinations/destinations.ts'
import type { Policies } from '../routing/policy/policy.ts'
import type { Templates } from '../templates/templates.ts'
import type { Sites } from '../sites/sites.ts'
import type { Webhooks } from '../webhooks/endpoints/webhooks.ts'

export interface MoveOptions {
  readonly policies: Policies
  readonly destinations: Destinations
  readonly smtpCredentials: SmtpCredentials
  readonly templates: Templates
  readonly formMoves: Pick<Forms, 'move'>
  readonly webhooks: Webhooks
  readonly inboxSettings: InboxSettings
  readonly inboundRoutes: InboundRoutes
  readonly siteMoves: Pick<Sites, 'update'>
}

/** Kinds that can be moved. Traces and organization-wide destinations cannot. */
export const movableTypes = [
  'form',
  'email_template',
  'inbound_route',
  'smtp_credential',
  'virtual_inbox',
  'webhook_endpoint',
  'destination',
  'site',
] as const
export type MovableType = (typeof movableTypes)[number]

export interface MoveRequest {
  readonly type: MovableType
  readonly id: string
  readonly projectId: string
}

/** Settings that do not work in the new project; each warning names its field. */
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
  async site({ siteMoves }, principal, id, projectId) {
    await siteMoves.update(principal, id, { projectId })
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

/** Feature flags that each kind requires for changes. */
const features: Readonly<Partial<Record<MovableType, Feature>>> = {
  smtp_credential: 'smtp_relay',
  email_template: 'templates',
  form: 'forms',
  inbound_route: 'inbound_routes',
  virtual_inbox: 'virtual_inboxes',
  webhook_endpoint: 'webhooks',
  site: 'managed_websites',
}

/**
 * Moves a resource in one write; no change if it is already there. Throws `not_found` for missing and foreign projects and resources.
 * Throws `conflict` for a destination in use, and for a slug or pattern that the project already has. Throws `validation_failed` for an
 * organization-wide destination, and `feature_disabled` if the flag of its kind is off.
 */
export async function moveResource(
  options: MoveOptions,
  principal: Principal,
  { type, id, projectId }: MoveRequest,
): Promise<MoveWarnings> {
  const feature = features[type]
  if (feature !== undefined) requireFlag((await options.policies.of(principal.organizationId)).organization, feature)
  return moves[type](options, principal, id, projectId)
}
