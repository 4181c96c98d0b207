/** Record of an SMTP relay credential: the login of a mail client. Spec "SMTP relay credential". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { noticeSettings } from './notice-settings.ts'

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  label: z.string(),
  /** User name for SMTP AUTH, unique in the whole service. */
  username: z.string(),
  /** Keyed hash of the generated password (`SecretBox.hash`). */
  passwordFingerprint: z.string(),
  /** Allowed domains of MAIL FROM: lower-case A-labels, matched exactly. An empty list allows any domain. */
  allowedFromDomains: z.array(z.string()),
  /** Whether the domain of the header From must be in `allowedFromDomains`, too. */
  enforceHeaderFrom: z.boolean(),
  /**
   * Takes precedence over routing rules. If null, routing rules, the organization's default sender and the project's no-route policy apply.
   */
  defaultDestinationId: z.string().nullable(),
  /** Replaces a default destination: mail goes to the active destination of this environment. */
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
