/** Forms with their draft and their versions. A version never changes; what was sent by one stays readable by it. Spec "Form". */
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
  /** What its public addresses name it by; cannot be guessed. */
  publicId: z.string(),
  projectId: z.string(),
  /** That of the draft. */
  name: z.string(),
  status: z.enum(formStatuses),
  /** Versions count 1, 2, 3 … up to this one; 0 before the first. */
  version: z.int(),
  publishedAt: z.int().nullable(),
  /** For the provider of its captcha; no version has it. */
  sealedCaptchaSecret: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type Form = Immutable<z.infer<typeof formSchema>>

/** Definitions are checked by `definition/check-definition.ts`, which alone knows what they may be. */
const json = z.record(z.string(), z.unknown())

const draftSchema = z.strictObject({
  /** That of the form. */
  id: z.string(),
  /** As it was saved last, whole or not. */
  definition: json,
  /** Grows with every save. */
  revision: z.int(),
  /** Id of the key or person that saved it last. */
  editedBy: z.string(),
  editedAt: z.int(),
})

export type FormDraft = Immutable<z.infer<typeof draftSchema>>

const versionSchema = z.strictObject({
  /** That of `versionId`. */
  id: z.string(),
  formId: z.string(),
  version: z.int(),
  definition: json as unknown as z.ZodType<Definition>,
  note: z.string(),
  /** The version that it repeats. */
  rolledBackTo: z.int().nullable(),
  /** Id of the key or person that published it. */
  publishedBy: z.string(),
  createdAt: z.int(),
})

export type FormVersion = Omit<Immutable<z.infer<typeof versionSchema>>, 'definition'> & { readonly definition: Definition }

/** Versions are found by counting, so they need no index. */
export const versionId = (formId: string, version: number): string => `${formId}.${version}`

export const forms = defineRecord<Form>({
  name: 'form',
  schema: formSchema,
  isTracked: true,
  indexes: { project: (form) => [[form.projectId]] },
  lookups: { public: (form) => [[form.publicId]] },
  projectOf: (form) => form.projectId,
})

/** Belongs to no project by itself: it is reached through its form only. */
export const formDrafts = defineRecord<FormDraft>({ name: 'form_draft', schema: draftSchema })

/** Belongs to no project by itself: it is reached through its form only. */
export const formVersions = defineRecord<FormVersion>({ name: 'form_version', schema: versionSchema })

/** Where the secret of the captcha provider is sealed for. */
export const captchaContext = (formId: string): string => `form/${formId}/captcha_secret`

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const publicIdLength = 22

/** 131 random bits in letters and digits. */
export const newPublicId = (): string => Array.from({ length: publicIdLength }, () => letters[randomInt(letters.length)]).join('')

/** Removes a form with its draft, all its versions and its notifications; its submissions and deliveries go by themselves. */
export function removeForm(change: Change, organizationId: string, stored: Stored<Form>): Change {
  const { id, version: latest } = stored.record
  for (let version = 1; version <= latest; version++) change.delete([organizationId, formVersions.name, versionId(id, version)])
  for (const { name } of [formDrafts, formNotifications]) change.delete([organizationId, name, id])
  scheduleSubmissionRemoval(scheduleCleanup(change, organizationId, id), organizationId, id)
  return change.remove(forms, organizationId, stored)
}
