/** Form records with drafts and versions. A version never changes, so each submission keeps its definition. Spec "Form". */
import { randomInt } from 'node:crypto'
import type { Change } from '#store/change.ts'
import { defineRecord, type Immutable, type Stored } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Definition } from './definition/definition.ts'
import { scheduleCleanup } from '../webhooks/sending/cleanup.ts'
import { formNotifications } from './notifications/notification.ts'
import { scheduleSubmissionRemoval } from './submissions/remove.ts'

export const formStatuses = ['draft', 'published', 'paused', 'archived'] as const
export type FormStatus = (typeof formStatuses)[number]

const formSchema = z.strictObject({
  id: z.string(),
  /** Unguessable id in public URLs. */
  publicId: z.string(),
  projectId: z.string(),
  /** Name in the draft. */
  name: z.string(),
  status: z.enum(formStatuses),
  /** Latest version number; versions start at 1, and 0 means no version. */
  version: z.int(),
  publishedAt: z.int().nullable(),
  /** Secret for the captcha provider; never part of a version. */
  sealedCaptchaSecret: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type Form = Immutable<z.infer<typeof formSchema>>

/** Untyped here; `definition/check-definition.ts` checks definitions. */
const json = z.record(z.string(), z.unknown())

const draftSchema = z.strictObject({
  /** Id of the form. */
  id: z.string(),
  /** The last saved definition, valid or not. */
  definition: json,
  /** Incremented by each save. */
  revision: z.int(),
  /** Id of the API key or member that saved it last. */
  editedBy: z.string(),
  editedAt: z.int(),
})

export type FormDraft = Immutable<z.infer<typeof draftSchema>>

const versionSchema = z.strictObject({
  /** See `versionId`. */
  id: z.string(),
  formId: z.string(),
  version: z.int(),
  definition: json as unknown as z.ZodType<Definition>,
  note: z.string(),
  /** The version that this version restores. */
  rolledBackTo: z.int().nullable(),
  /** Id of the API key or member that published it. */
  publishedBy: z.string(),
  createdAt: z.int(),
})

export type FormVersion = Omit<Immutable<z.infer<typeof versionSchema>>, 'definition'> & { readonly definition: Definition }

/** Returns the id of a version. Versions are numbered without gaps, so they need no index. */
export const versionId = (formId: string, version: number): string => `${formId}.${version}`

export const forms = defineRecord<Form>({
  name: 'form',
  schema: formSchema,
  isTracked: true,
  indexes: { project: (form) => [[form.projectId]] },
  lookups: { public: (form) => [[form.publicId]] },
  projectOf: (form) => form.projectId,
})

/** Has no project; access is checked through the form. */
export const formDrafts = defineRecord<FormDraft>({ name: 'form_draft', schema: draftSchema })

/** Has no project; access is checked through the form. */
export const formVersions = defineRecord<FormVersion>({ name: 'form_version', schema: versionSchema })

/** Context that seals the secret of the captcha provider. */
export const captchaContext = (formId: string): string => `form/${formId}/captcha_secret`

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const publicIdLength = 22

/** Returns 131 random bits as letters and digits. */
export const newPublicId = (): string => Array.from({ length: publicIdLength }, () => letters[randomInt(letters.length)]).join('')

/** Removes a form with its draft, versions and notifications. Its submissions and deliveries are removed in the background. */
export function removeForm(change: Change, organizationId: string, stored: Stored<Form>): Change {
  const { id, version: latest } = stored.record
  for (let version = 1; version <= latest; version++) change.delete([organizationId, formVersions.name, versionId(id, version)])
  for (const { name } of [formDrafts, formNotifications]) change.delete([organizationId, name, id])
  scheduleSubmissionRemoval(scheduleCleanup(change, organizationId, id), organizationId, id)
  return change.remove(forms, organizationId, stored)
}
