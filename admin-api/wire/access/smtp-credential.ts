/** SMTP relay credentials on the wire. Spec "SMTP relay credential". */
import * as z from 'zod'
import type { ChangedCredential, CredentialWithSecret, ShownCredential } from '#core/access/smtp-credentials.ts'
import type { FieldProblem } from '#core/refusals.ts'
import type { ConnectionCheck } from '#core/submission/doors/connection-test.ts'
import { encoder } from '../fields/codec.ts'
import { filledLine, id, line } from '../fields/text.ts'
import { noticeCode, noticeFields, noticeInput } from './failure-notices.ts'
import { orNull, timeInput, wireTime } from '../fields/time.ts'

const fields = {
  id: z.string(),
  project_id: z.string(),
  label: z.string(),
  username: z.string().meta({ description: 'The user name for SMTP authentication.' }),
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
  ...noticeFields,
  created_at: wireTime,
  updated_at: wireTime,
}

const warnings = z
  .array(z.object({ path: z.string(), message: z.string() }))
  .optional()
  .meta({ description: 'Settings without effect at present, by field.' })

const lastLogin = wireTime.nullable().meta({ description: 'Accurate to five minutes; null until the first login.' })
const smtpCredentialShape = z.object({ ...fields, last_login_at: lastLogin }).meta({ id: 'SmtpCredential' })
const changedCredentialShape = z.object({ ...fields, last_login_at: lastLogin, warnings }).meta({ id: 'ChangedSmtpCredential' })
const credentialWithSecretShape = z
  .object({
    ...fields,
    last_login_at: lastLogin,
    warnings,
    password: z.string().meta({ description: 'Shown only once; only a hash is stored.' }),
  })
  .meta({ id: 'MintedSmtpCredential' })

/** Null means false. */
const toggle = z
  .boolean()
  .nullable()
  .optional()
  .transform((given) => (given === null ? false : given))
  .meta({
    description: 'Only if the plan and the flags allow it.',
  })

const changes = {
  label: line(100, 'A label that identifies the site or machine.').optional(),
  allowed_from_domains: z
    .array(filledLine(254))
    .max(100)
    .optional()
    .meta({ description: 'Domains allowed in MAIL FROM, as exact matches. An empty list allows any domain.' }),
  enforce_header_from: z.boolean().optional().meta({ description: 'Applies the same domains to the From field. Defaults to true.' }),
  default_destination_id: z
    .string()
    .max(64)
    .nullable()
    .optional()
    .meta({
      description:
        'Destination of its mail, with precedence over routing rules. An empty string clears it: then routing rules ' +
        'and the no-route policy decide.',
    }),
  environment: line(64)
    .nullable()
    .optional()
    .meta({
      description:
        'Instead of a default destination: the live, healthy one of this environment with the smallest priority. An empty string ' +
        'clears it.',
    }),
  max_rate_per_min: z.int().min(1).max(100_000).nullable().optional(),
  max_message_bytes: z.int().min(1024).max(268_435_456).nullable().optional(),
  expires_at: timeInput.nullable().optional(),
  verp_enabled: toggle,
  verp_bounce_domain: line(253).nullable().optional().meta({ description: 'An empty string clears it.' }),
  click_tracking_enabled: toggle,
  open_tracking_enabled: toggle,
  ...noticeInput,
}

export const smtpCredentialChanges = z.strictObject({
  ...changes,
  project_id: id.optional().meta({
    description: 'Moves the credential to another project. `warnings` states whether its default destination stays in the old project.',
  }),
})
export const newSmtpCredential = z.strictObject({ ...changes, project_id: id.optional() })

/** The credential after a change; `warnings` is omitted if empty. */
const changed = <C extends ChangedCredential>({ record, warnings, ...rest }: C) => ({
  ...record,
  ...rest,
  warnings: warnings.length > 0 ? warnings : undefined,
})
type Changed = ShownCredential & { readonly warnings: readonly FieldProblem[] | undefined }

const code = { ...noticeCode, last_login_at: ({ lastLoginAt }: ShownCredential) => orNull(lastLoginAt) }

export const smtpCredential = encoder(smtpCredentialShape).from<ShownCredential>(code)
export const changedSmtpCredential = encoder(changedCredentialShape)
  .from<Changed>(code)
  .via(changed<ChangedCredential>)
export const smtpCredentialWithSecret = encoder(credentialWithSecretShape)
  .from<Changed & { readonly password: string }>(code)
  .via(changed<CredentialWithSecret>)

const checkShape = z.object({ check: z.string(), ok: z.boolean(), detail: z.string(), milliseconds: z.number().optional() })
const connectionTestShape = z.object({ ok: z.boolean(), checks: z.array(checkShape) }).meta({ id: 'ConnectionTest' })

const connectionCheck = encoder(checkShape).from<ConnectionCheck>({
  milliseconds: ({ milliseconds }) => (milliseconds === undefined ? undefined : Math.round(milliseconds)),
})
export const connectionTest = encoder(connectionTestShape).from<readonly ConnectionCheck[]>({
  ok: (checks) => checks.every(({ ok }) => ok),
  checks: (checks) => checks.map(connectionCheck.encode),
})
