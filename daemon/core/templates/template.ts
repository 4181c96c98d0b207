/** Templates and their versions. Every save with changed content creates an immutable version. Spec "Template". */
import type { Change } from '#store/change.ts'
import { defineRecord, type Stored, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** Maximum characters of stored content; for the schema, of its JSON. */
export const templateLimits = { slug: 64, name: 128, subject: 2000, text: 262_144, html: 262_144, schema: 32_768 } as const

export type Variables = Readonly<Record<string, unknown>>

const templateSchema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** Name for senders; unique in the project. */
  slug: z.string(),
  name: z.string(),
  /** Versions are numbered 1, 2, 3 … up to this one. */
  currentVersion: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type Template = Immutable<z.infer<typeof templateSchema>>

/** Has no project field: versions are only accessible through their template. */
const versionSchema = z.strictObject({
  /** See `versionId`. */
  id: z.string(),
  templateId: z.string(),
  version: z.int(),
  subject: z.string(),
  text: z.string().nullable(),
  html: z.string().nullable(),
  /** JSON Schema of the variables as given; null accepts any variables. */
  schema: z.record(z.string(), z.unknown()).nullable(),
  /** Id of the key that saved it. */
  savedBy: z.string(),
  createdAt: z.int(),
})

export type TemplateVersion = Immutable<z.infer<typeof versionSchema>>
export type TemplateContent = Pick<TemplateVersion, 'subject' | 'text' | 'html' | 'schema'>

/** Version ids are computed from the number, so versions need no index. */
export const versionId = (templateId: string, version: number): string => `${templateId}.${version}`

export const templates = defineRecord<Template>({
  name: 'template',
  schema: templateSchema,
  isTracked: true,
  indexes: { project: (template) => [[template.projectId]] },
  unique: { slug: (template) => [[template.projectId, template.slug]] },
  projectOf: (template) => template.projectId,
})

export const templateVersions = defineRecord<TemplateVersion>({
  name: 'template_version',
  schema: versionSchema,
})

/** Deletes a template with all its versions. */
export function removeTemplate(change: Change, organizationId: string, stored: Stored<Template>): Change {
  const { id, currentVersion } = stored.record
  for (let version = 1; version <= currentVersion; version++) change.delete([organizationId, templateVersions.name, versionId(id, version)])
  return change.remove(templates, organizationId, stored)
}
