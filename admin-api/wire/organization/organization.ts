/** Organizations on the wire. */
import * as z from 'zod'
import { planNames } from '#config/plans/plans.ts'
import { limitsOf, paymentStates } from '#core/plan/limits.ts'
import type { MadeOrganization } from '#core/administration/organizations.ts'
import type { Organization } from '#core/tenancy/organization.ts'
import { encoder } from '../fields/codec.ts'
import { limitValues, toWireLimits } from '../fields/limits.ts'
import { nameLine } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'

const fields = {
  id: z.string(),
  name: z.string(),
  owner_id: z
    .string()
    .nullable()
    .meta({ description: 'The organization that created this team organization; null for other organizations.' }),
  default_project_id: z.string(),
  plan_tier: z.enum(planNames),
  payment_state: z.enum(paymentStates),
  limits: limitValues.meta({ description: 'The effective limits of the organization: its plan with its overrides. null means no limit.' }),
  created_at: wireTime,
}

const organizationShape = z.object(fields).meta({ id: 'Organization' })
const madeOrganizationShape = z
  .object({ ...fields, api_key: z.string().meta({ description: 'Its first key, with `api:admin`. Shown only once.' }) })
  .meta({ id: 'MadeOrganization' })

export const organizationInput = z.strictObject({ name: nameLine(100) })

const code = {
  plan_tier: ({ plan }: Organization) => plan,
  payment_state: ({ paymentState }: Organization) => paymentState ?? 'none',
  limits: (settings: Organization) => toWireLimits(limitsOf(settings)),
}
export const organization = encoder(organizationShape).from<Organization>(code)
export const madeOrganization = encoder(madeOrganizationShape)
  .from<Organization & { readonly apiKey: string }>(code)
  .via((made: MadeOrganization) => ({ ...made.organization, apiKey: made.apiKey }))
