/** Organizations on the wire. */
import * as z from 'zod'
import { planNames } from '#config/plans.ts'
import { limitsOf, paymentStates } from '#core/limits.ts'
import type { Organization } from '#core/tenancy/organization.ts'
import { filledLine } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

const most = z.int().nullable()

const limitsShape = z
  .object({
    sends_per_day: most,
    traces_stored: most,
    retention_days: most,
    smtp_credentials: most,
    team_organizations: most,
    captures_per_month: most,
    templates: most,
    attachments: z.boolean(),
    bulk_replay: z.boolean(),
    org_destinations: z.boolean(),
    sub_projects: z.boolean(),
    scheduled_sends: z.boolean(),
    tracking: z.boolean(),
  })
  .meta({ description: 'What the organization may use: its plan with what was agreed for it alone. null is no limit.' })

const fields = {
  id: z.string(),
  name: z.string(),
  owner_id: z.string().nullable().meta({ description: 'The organization that made this one, which is then a team organization.' }),
  default_project_id: z.string(),
  plan_tier: z.enum(planNames),
  payment_state: z.enum(paymentStates),
  limits: limitsShape,
  created_at: wireTime,
}

export const organizationShape = z.object(fields).meta({ id: 'Organization' })
export const madeOrganizationShape = z
  .object({ ...fields, api_key: z.string().meta({ description: 'Its first key, with api:admin; shown this once.' }) })
  .meta({ id: 'MadeOrganization' })

export const organizationBody = z.strictObject({ name: filledLine(100) })

export function toWireOrganization(organization: Organization): z.input<typeof organizationShape> {
  const limits = limitsOf(organization)
  return {
    id: organization.id,
    name: organization.name,
    owner_id: organization.ownerId ?? null,
    default_project_id: organization.defaultProjectId,
    plan_tier: organization.plan,
    payment_state: organization.paymentState ?? 'none',
    limits: {
      sends_per_day: limits.sendsPerDay ?? null,
      traces_stored: limits.tracesStored ?? null,
      retention_days: limits.retentionDays ?? null,
      smtp_credentials: limits.smtpCredentials ?? null,
      team_organizations: limits.teamOrganizations ?? null,
      captures_per_month: limits.capturesPerMonth ?? null,
      templates: limits.templates ?? null,
      attachments: limits.attachments,
      bulk_replay: limits.bulkReplay,
      org_destinations: limits.orgDestinations,
      sub_projects: limits.subProjects,
      scheduled_sends: limits.scheduledSends,
      tracking: limits.tracking,
    },
    created_at: toWireTime(organization.createdAt),
  }
}
