/** Organizations on the wire. */
import * as z from 'zod'
import { planNames } from '#config/plans.ts'
import { limitsOf, paymentStates } from '#core/limits.ts'
import type { Organization } from '#core/tenancy/organization.ts'
import { limitValues, toWireLimits } from './limits.ts'
import { filledLine } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

const fields = {
  id: z.string(),
  name: z.string(),
  owner_id: z.string().nullable().meta({ description: 'The organization that made this one, which is then a team organization.' }),
  default_project_id: z.string(),
  plan_tier: z.enum(planNames),
  payment_state: z.enum(paymentStates),
  limits: limitValues.meta({ description: 'What the organization may use: its plan with what was agreed for it alone. null is no limit.' }),
  created_at: wireTime,
}

export const organizationShape = z.object(fields).meta({ id: 'Organization' })
export const madeOrganizationShape = z
  .object({ ...fields, api_key: z.string().meta({ description: 'Its first key, with api:admin; shown this once.' }) })
  .meta({ id: 'MadeOrganization' })

export const organizationBody = z.strictObject({ name: filledLine(100) })

export const toWireOrganization = (organization: Organization): z.input<typeof organizationShape> => ({
  id: organization.id,
  name: organization.name,
  owner_id: organization.ownerId ?? null,
  default_project_id: organization.defaultProjectId,
  plan_tier: organization.plan,
  payment_state: organization.paymentState ?? 'none',
  limits: toWireLimits(limitsOf(organization)),
  created_at: toWireTime(organization.createdAt),
})
