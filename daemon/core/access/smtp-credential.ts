/** SMTP relay credentials: what a CMS logs in with. Spec "SMTP relay credential". */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'

export interface SmtpCredential {
  readonly id: string
  readonly projectId: string
  readonly label: string
  /** The login; unique in the whole service. */
  readonly username: string
  /** Keyed hash of the generated password (`SecretBox.fingerprint`). */
  readonly passwordFingerprint: string
  /** MAIL FROM whitelist, lower-case A-label domains, matched exactly; empty means any domain. */
  readonly allowedFromDomains: readonly string[]
  /** The header From must be in the whitelist too. */
  readonly enforceHeaderFrom: boolean
  /** Asked before routing rules; null leaves the choice to them, the organization's default sender and the project's no-route policy. */
  readonly defaultDestinationId: string | null
  /** In place of a default destination: the one of this environment that takes mail now. */
  readonly environment?: string | null | undefined
  readonly maxRatePerMin: number | null
  readonly maxMessageBytes: number | null
  readonly expiresAt: number | null
  readonly verpEnabled: boolean
  readonly verpBounceDomain: string | null
  readonly clickTrackingEnabled: boolean
  readonly openTrackingEnabled: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

export const smtpCredentials = defineRecord<SmtpCredential>({
  name: 'smtp_credential',
  noun: 'SMTP credential',
  schema: z.strictObject({
    id: z.string(),
    projectId: z.string(),
    label: z.string(),
    username: z.string(),
    passwordFingerprint: z.string(),
    allowedFromDomains: z.array(z.string()),
    enforceHeaderFrom: z.boolean(),
    defaultDestinationId: z.string().nullable(),
    environment: z.string().nullable().optional(),
    maxRatePerMin: z.int().nullable(),
    maxMessageBytes: z.int().nullable(),
    expiresAt: z.int().nullable(),
    verpEnabled: z.boolean(),
    verpBounceDomain: z.string().nullable(),
    clickTrackingEnabled: z.boolean(),
    openTrackingEnabled: z.boolean(),
    createdAt: z.int(),
    updatedAt: z.int(),
  }),
  isSetting: true,
  isTracked: true,
  indexes: { project: (credential) => [[credential.projectId]] },
  lookups: { username: (credential) => [[credential.username]] },
  projectOf: (credential) => credential.projectId,
})
