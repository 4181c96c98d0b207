/** SMTP relay credentials: what a CMS logs in with. Spec "SMTP relay credential". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { noticeSettings } from './notice-settings.ts'

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  label: z.string(),
  /** The login; unique in the whole service. */
  username: z.string(),
  /** Keyed hash of the generated password (`SecretBox.fingerprint`). */
  passwordFingerprint: z.string(),
  /** MAIL FROM whitelist, lower-case A-label domains, matched exactly; empty means any domain. */
  allowedFromDomains: z.array(z.string()),
  /** The header From must be in the whitelist too. */
  enforceHeaderFrom: z.boolean(),
  /** Asked before routing rules; null leaves the choice to them, the organization's default sender and the project's no-route policy. */
  defaultDestinationId: z.string().nullable(),
  /** In place of a default destination: the one of this environment that takes mail now. */
  environment: z.string().nullable().optional(),
  maxRatePerMin: z.int().nullable(),
  maxMessageBytes: z.int().nullable(),
  expiresAt: z.int().nullable(),
  verpEnabled: z.boolean(),
  verpBounceDomain: z.string().nullable(),
  clickTrackingEnabled: z.boolean(),
  openTrackingEnabled: z.boolean(),
  ...noticeSettings,
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type SmtpCredential = Immutable<z.infer<typeof schema>>

export const smtpCredentials = defineRecord<SmtpCredential>({
  name: 'smtp_credential',
  noun: 'SMTP credential',
  schema,
  isSetting: true,
  isTracked: true,
  indexes: { project: (credential) => [[credential.projectId]] },
  lookups: { username: (credential) => [[credential.username]] },
  projectOf: (credential) => credential.projectId,
})
