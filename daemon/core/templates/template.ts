/** Templates and their versions. Every save of other content is a version of its own, which never changes. Spec "Template". */
import type { Change } from '#store/change.ts'
import { defineRecord, type Stored, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** The largest content that is kept, in characters; of the schema, those of its JSON. */
export const templateLimits = { slug: 64, name: 128, subject: 2000, text: 262_144, html: 262_144, schema: 32_768 } as const

export type Variables = Readonly<Record<string, unknown>>

const templateSchema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** What senders call it by; unique in the project. */
  slug: z.string(),
  name: z.string(),
  /** Versions count 1, 2, 3 … up to this one. */
  currentVersion: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type Template = Immutable<z.infer<typeof templateSchema>>

/** Belongs to no project by itself: it is reached through its template only. */
const versionSchema = z.strictObject({
  /** That of `versionId`. */
  id: z.string(),
  templateId: z.string(),
  version: z.int(),
  subject: z.string(),
  text: z.string().nullable(),
  html: z.string().nullable(),
  /** The JSON Schema of the variables as it was given; null takes any variables. */
  schema: z.record(z.string(), z.unknown()).nullable(),
  /** Id of the key that saved it. */
  savedBy: z.string(),
  createdAt: z.int(),
})

export type TemplateVersion = Immutable<z.infer<typeof versionSchema>>
export type TemplateContent = Pick<TemplateVersion, 'subject' | 'text' | 'html' | 'schema'>

/** Versions are found by counting, so they need no index. */
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

/** Removes a template with all its versions. */
export function removeTemplate(change: Change, organizationId: string, stored: Stored<Template>): Change {
  const { id, currentVersion } = stored.record
  for (let version = 1; version <= currentVersion; version++) change.delete([organizationId, templateVersions.name, versionId(id, version)])
  return change.remove(templates, organizationId, stored)
}
