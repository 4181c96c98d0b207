/** SMTP relay credentials on the wire. Spec "SMTP relay credential". */
import * as z from 'zod'
import type { SmtpCredential } from '#core/access/smtp-credential.ts'
import type { ChangedCredential, SmtpCredentialChanges } from '#core/access/smtp-credentials.ts'
import { filledLine, id, line } from './text.ts'
import { timeInput, toWireTime, wireTime } from './time.ts'

const fields = {
  id: z.string(),
  project_id: z.string(),
  label: z.string(),
  username: z.string().meta({ description: 'The login.' }),
  allowed_from_domains: z.array(z.string()),
  enforce_header_from: z.boolean(),
  default_destination_id: z.string().nullable(),
  environment: z.string().nullable(),
  max_rate_per_min: z.int().nullable(),
  max_message_bytes: z.int().nullable(),
  expires_at: wireTime.nullable(),
  verp_enabled: z.boolean(),
  verp_bounce_domain: z.string().nullable(),
  click_tracking_enabled: z.boolean(),
  open_tracking_enabled: z.boolean(),
  created_at: wireTime,
  updated_at: wireTime,
}

const warnings = z
  .array(z.object({ path: z.string(), message: z.string() }))
  .optional()
  .meta({ description: 'What was asked for and has no effect now, by field.' })

export const smtpCredentialShape = z.object(fields).meta({ id: 'SmtpCredential' })
export const changedCredentialShape = z.object({ ...fields, warnings }).meta({ id: 'ChangedSmtpCredential' })
export const mintedCredentialShape = z
  .object({ ...fields, warnings, password: z.string().meta({ description: 'Shown this once; only a hash is kept.' }) })
  .meta({ id: 'MintedSmtpCredential' })

/** Null is off. */
const toggle = z.boolean().nullable().optional().meta({
  description: 'Stays off on a plan without it. Its effect is decided with each message, as plan and flags of the organization are then.',
})

const changes = {
  label: line(100, 'For people: which site or machine uses it.').optional(),
  allowed_from_domains: z
    .array(filledLine(254))
    .max(100)
    .optional()
    .meta({ description: 'Domains that MAIL FROM may have, each exactly; empty means any.' }),
  enforce_header_from: z
    .boolean()
    .optional()
    .meta({ description: 'The header From must be at one of these domains too; true unless told.' }),
  default_destination_id: z.string().max(64).nullable().optional().meta({
    description:
      'Where its mail goes, before any routing rule. Empty text leaves that to the rules, then to the organization default sender, and at last to the no-route policy of the project.',
  }),
  environment: line(64).nullable().optional().meta({
    description:
      'In place of a default destination: the live, healthy destination of this environment with the smallest priority. Empty text clears it.',
  }),
  max_rate_per_min: z.int().min(1).max(100_000).nullable().optional(),
  max_message_bytes: z.int().min(1024).max(268_435_456).nullable().optional(),
  expires_at: timeInput.nullable().optional(),
  verp_enabled: toggle,
  verp_bounce_domain: line(253).nullable().optional().meta({ description: 'Empty text clears it.' }),
  click_tracking_enabled: toggle,
  open_tracking_enabled: toggle,
}

export const smtpCredentialChangesBody = z.strictObject({
  ...changes,
  project_id: id.optional().meta({ description: 'Moves it; warnings tell when its default destination stays behind.' }),
})
export const newSmtpCredentialBody = z.strictObject({ ...changes, project_id: id.optional() })

const off = (given: boolean | null | undefined): boolean | undefined => (given === null ? false : given)

export const toCredentialChanges = (
  body: z.output<typeof smtpCredentialChangesBody>,
): SmtpCredentialChanges & { readonly projectId: string | undefined } => ({
  projectId: body.project_id,
  label: body.label,
  allowedFromDomains: body.allowed_from_domains,
  enforceHeaderFrom: body.enforce_header_from,
  defaultDestinationId: body.default_destination_id,
  environment: body.environment,
  maxRatePerMin: body.max_rate_per_min,
  maxMessageBytes: body.max_message_bytes,
  expiresAt: body.expires_at,
  verpEnabled: off(body.verp_enabled),
  verpBounceDomain: body.verp_bounce_domain,
  clickTrackingEnabled: off(body.click_tracking_enabled),
  openTrackingEnabled: off(body.open_tracking_enabled),
})

export const toWireCredential = (credential: SmtpCredential): z.input<typeof smtpCredentialShape> => ({
  id: credential.id,
  project_id: credential.projectId,
  label: credential.label,
  username: credential.username,
  allowed_from_domains: [...credential.allowedFromDomains],
  enforce_header_from: credential.enforceHeaderFrom,
  default_destination_id: credential.defaultDestinationId,
  environment: credential.environment ?? null,
  max_rate_per_min: credential.maxRatePerMin,
  max_message_bytes: credential.maxMessageBytes,
  expires_at: credential.expiresAt === null ? null : toWireTime(credential.expiresAt),
  verp_enabled: credential.verpEnabled,
  verp_bounce_domain: credential.verpBounceDomain,
  click_tracking_enabled: credential.clickTrackingEnabled,
  open_tracking_enabled: credential.openTrackingEnabled,
  created_at: toWireTime(credential.createdAt),
  updated_at: toWireTime(credential.updatedAt),
})

export const toWireChangedCredential = ({ record, warnings: told }: ChangedCredential): z.input<typeof changedCredentialShape> => ({
  ...toWireCredential(record),
  ...(told.length > 0 && { warnings: told.map(({ path, message }) => ({ path, message })) }),
})
