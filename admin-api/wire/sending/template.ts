/** Templates on the wire, and the fields of a send that select a template. Spec "Template". */
import * as z from 'zod'
import { Refusal } from '#core/refusals.ts'
import { templateLimits, type Template, type TemplateContent, type TemplateVersion } from '#core/templates/template.ts'
import type { Preview, TemplateOrder, VersionedTemplate } from '#core/templates/templates.ts'
import { warningCodes, type ContentCheck } from '#core/templates/content-check.ts'
import type { SendOrder } from '#core/submission/doors/send-messages.ts'
import { parseJsonBody } from '../../bodies/json/json-body.ts'
import { encoder, encoderOf, type Decoded } from '../fields/codec.ts'
import { project } from '../fields/paging.ts'
import { mailbox } from '../fields/mailbox.ts'
import { filledLine, id, line } from '../fields/text.ts'
import { withNumberForm } from '../fields/text-form.ts'
import { wireTime } from '../fields/time.ts'

const maxSchemaDepth = 32
const maxVersion = 999_999_999

const summary = {
  id: z.string(),
  project_id: z.string(),
  slug: z.string(),
  name: z.string(),
  current_version: z.int(),
  created_at: wireTime,
  updated_at: wireTime,
}

const contentShape = {
  subject_tmpl: z.string(),
  text_tmpl: z.string().nullable(),
  html_tmpl: z.string().nullable(),
  schema_json: z.record(z.string(), z.unknown()).nullable(),
}

const templateSummaryShape = z.object(summary).meta({ id: 'TemplateSummary' })
const templateShape = z.object({ ...summary, ...contentShape }).meta({ id: 'Template' })

const versionSummary = { template_id: z.string(), version: z.int(), saved_by: z.string(), created_at: wireTime }

const versionSummaryShape = z.object(versionSummary).meta({ id: 'TemplateVersionSummary' })
const versionShape = z.object({ ...versionSummary, ...contentShape }).meta({ id: 'TemplateVersion' })
const checkShape = z
  .object({
    problems: z
      .array(z.object({ path: z.string(), message: z.string(), line: z.int().optional(), column: z.int().optional() }))
      .meta({ description: 'Problems that prevent saving the content, or rendering it with these variables.' }),
    warnings: z.array(
      z.object({
        code: z.enum(warningCodes),
        path: z.string(),
        message: z.string(),
        line: z.int().optional(),
        column: z.int().optional(),
      }),
    ),
    variables: z.array(z.string()).meta({ description: 'Variables that the content uses.' }),
    preview: z
      .object({ subject: z.string(), text: z.string().nullable(), html: z.string().nullable() })
      .nullable()
      .meta({ description: 'The rendered content; null if there are problems.' }),
  })
  .meta({ id: 'TemplateCheck' })
const previewShape = z
  .object({ version: z.int(), subject: z.string(), text: z.string().nullable(), html: z.string().nullable() })
  .meta({ id: 'TemplatePreview' })

/** An object, or JSON text of an object. */
const schemaJson = z
  .union([z.record(z.string(), z.unknown()), z.string().max(templateLimits.schema)])
  .transform((given, context): Readonly<Record<string, unknown>> => {
    const schema = typeof given === 'string' ? parseSchema(given, context) : given
    if (JSON.stringify(schema).length > templateLimits.schema)
      context.addIssue({ code: 'custom', message: `at most ${templateLimits.schema} characters of JSON` })
    return schema
  })
  .nullable()
  .meta({
    description:
      'JSON Schema of the variables: an object of the variables, with type, properties, required, additionalProperties, ' +
      'items, enum and default. JSON text is accepted too.',
  })

function parseSchema(text: string, context: z.RefinementCtx): Readonly<Record<string, unknown>> {
  try {
    const schema = parseJsonBody(Buffer.from(text), { maxDepth: maxSchemaDepth, maxValues: templateLimits.schema })
    if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema as Record<string, unknown>
    context.addIssue({ code: 'custom', message: 'must be an object' })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    context.addIssue({ code: 'custom', message: error.message.replace(/^body: /, '') })
  }
  return {}
}

const slug = z.string().min(1).max(templateLimits.slug).meta({ description: 'Stable name for sends, unique in the project.' })
const name = filledLine(templateLimits.name)
const content = {
  subject_tmpl: z
    .string()
    .min(1)
    .max(templateLimits.subject)
    .meta({ description: 'One line. Variables in double braces, as in {{.name}}.' }),
  text_tmpl: z.string().max(templateLimits.text).nullable().optional(),
  html_tmpl: z.string().max(templateLimits.html).nullable().optional().meta({ description: 'Values are escaped for HTML.' }),
  schema_json: schemaJson.optional(),
}

/** Enough for every field at its maximum length, with each character escaped. */
export const maxTemplateBodyBytes = 4 * 1024 * 1024

export const newTemplate = z.strictObject({ slug, name, ...content, project_id: id.optional() })
export const templateSave = z.strictObject({ slug: slug.optional(), name: name.optional(), ...content })
const variables = z.record(z.string(), z.unknown())
const version = z.int().min(1).max(maxVersion)
export const previewInput = z.strictObject({
  variables: variables.default({}),
  version: version.optional().meta({ description: 'Defaults to the current version.' }),
})
export const templateFilter = {
  project,
  q: line(templateLimits.name, 'Part of the slug or name. Case-insensitive.').optional(),
}
export const checkInput = z.strictObject({
  ...content,
  subject_tmpl: z.string().max(templateLimits.subject),
  variables: variables.default({}),
})
export const testInput = z.strictObject({
  to: mailbox,
  from: mailbox.optional().meta({ description: 'Defaults to the From of the destination.' }),
  variables: variables.default({}),
  version: version.optional().meta({ description: 'Defaults to the current version.' }),
})
export const versionInput = z.strictObject({
  version: withNumberForm(version, /^[1-9]\d{0,8}$/, 'must be the number of a version, such as 1'),
})

/** The fields of a send that select a template; null means the same as omitting the field. */
export const templateFields = {
  template_id: id.nullable().optional().meta({ description: 'Id of a template of the project, which provides subject, text and HTML.' }),
  template_slug: id.nullable().optional().meta({ description: 'Slug of a template. Replaces template_id.' }),
  template_version: version.nullable().optional().meta({ description: 'Defaults to the current version.' }),
  template_vars: variables.nullable().optional().meta({ description: 'Variables for the template.' }),
}

type TemplateFields = z.output<z.ZodObject<typeof templateFields>>

const given = (value: unknown): boolean => value !== undefined && value !== null

export const namesTemplate = ({ template_id, template_slug }: TemplateFields): boolean => given(template_id) || given(template_slug)

/** Reports an error for `template_id` together with `template_slug`, and for a version or variables without a template. */
export function checkTemplateFields(body: TemplateFields, context: z.RefinementCtx): void {
  const fault = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
  if (given(body.template_id) && given(body.template_slug)) fault('template_slug', 'replaces template_id; give only one of them')
  if (namesTemplate(body)) return
  const without = 'requires a template; give template_id or template_slug too, or leave it out'
  if (given(body.template_version)) fault('template_version', without)
  if (Object.keys(body.template_vars ?? {}).length > 0) fault('template_vars', without)
}

export function toTemplateOrder(given: Decoded<z.ZodObject<typeof templateFields>>): TemplateOrder | undefined {
  const { templateId, templateSlug, templateVersion: pinned, templateVars } = given
  const named = typeof templateId === 'string' ? { id: templateId } : typeof templateSlug === 'string' ? { slug: templateSlug } : undefined
  return named && { template: named, version: pinned ?? undefined, variables: templateVars ?? {} }
}

/** A test send of the template, captured regardless of the mode of the destination. */
export const toTestOrder = (given: Decoded<typeof testInput>, { id: named, projectId }: Pick<Template, 'id' | 'projectId'>): SendOrder => ({
  ...{ from: given.from, to: [given.to], cc: [], bcc: [], replyTo: [], subject: '', text: undefined, html: undefined, headers: [] },
  ...{ attachments: [], destinationId: undefined, projectId, idempotencyKey: undefined, isTest: true },
  template: { template: { id: named }, version: given.version, variables: given.variables },
})

/** Converts the content fields of a request to the core's content. */
export const templateContent = (fields: Decoded<z.ZodObject<typeof content>>): TemplateContent => ({
  subject: fields.subjectTmpl,
  text: fields.textTmpl ?? null,
  html: fields.htmlTmpl ?? null,
  schema: fields.schemaJson ?? null,
})

const contentCode = {
  subject_tmpl: ({ subject }: TemplateContent) => subject,
  text_tmpl: ({ text }: TemplateContent) => text,
  html_tmpl: ({ html }: TemplateContent) => html,
  schema_json: ({ schema }: TemplateContent) => schema,
}

export const templateSummary = encoder(templateSummaryShape).from<Template>()
export const template = encoder(templateShape)
  .from<Template & TemplateContent>(contentCode)
  .via(({ template: record, version: current }: VersionedTemplate) => ({ ...current, ...record }))
export const templateVersionSummary = encoder(versionSummaryShape).from<TemplateVersion>()
export const templateVersion = encoder(versionShape).from<TemplateVersion>(contentCode)
export const templatePreview = encoder(previewShape).from<Preview>()
export const templateCheck = encoderOf(checkShape, ({ problems, warnings, variables: used, preview }: ContentCheck) => ({
  problems: [...problems],
  warnings: [...warnings],
  variables: [...used],
  preview,
}))
