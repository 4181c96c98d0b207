/** Forms on the wire: the form, its draft, its versions. The definition has the same format on every surface. Spec "Form". */
import * as z from 'zod'
import type { CheckedDefinition } from '#core/forms/definition/check-definition.ts'
import { definitionLimits } from '#core/forms/definition/definition.ts'
import type { DefinitionChange } from '#core/forms/definition/diff.ts'
import type { CheckedDraft } from '#core/forms/drafts.ts'
import { formStatuses, type Form, type FormVersion } from '#core/forms/form.ts'
import type { ListedForm } from '#core/forms/forms.ts'
import { starterNames } from '#core/forms/starters.ts'
import { encoder, encoderOf, type Decoded } from '../fields/codec.ts'
import { listEncoder, project } from '../fields/paging.ts'
import { id, line, nameLine } from '../fields/text.ts'
import { withNumberForm } from '../fields/text-form.ts'
import { wireTime } from '../fields/time.ts'

/** Enough for the largest definition with every character escaped. */
export const maxDefinitionBodyBytes = 1_048_576

const json = z.record(z.string(), z.unknown())
const name = nameLine(definitionLimits.name)
const projectId = id.meta({ description: 'The project of the form. Defaults to the project of the key.' })

/** The parts of a definition; `check-definition.ts` of the core validates them. */
const definitionFields = {
  name: z
    .string()
    .max(1000)
    .optional()
    .meta({ description: `Shown as the title, and the name of the form: 1 to ${definitionLimits.name} characters.` }),
  locale: z.string().max(64).optional().meta({ description: 'The language of its texts, such as en or de-CH.' }),
  translations: json
    .optional()
    .meta({ description: 'Translated texts by language and path: `{"fr": {"fields.email.label": "Adresse e-mail"}}`.' }),
  schema: json
    .optional()
    .meta({ description: '`{"version": 1, "fields": […], "layout": {"version": 1, "rows": [{"fields": […], "spans": […]}]}}`.' }),
  theme: json.optional().meta({ description: '`mode`, `colors`, `dark_colors`, `radius`, `font` and `logo`.' }),
  logic: json.optional().meta({ description: '`{"version": 1, "rules": [{"id", "when", "then"}]}`.' }),
  thank_you: json.optional().meta({ description: '`title`, `body`, `redirect_url` and `variants`.' }),
  settings: json.optional().meta({ description: 'Label of the button, origins, captcha, closing conditions, retention of submissions.' }),
}

export const definitionInput = z.strictObject(definitionFields).meta({ id: 'FormDefinition' })

/** Returns the given parts under their names in the document. */
export function toDefinition({ thankYou, ...rest }: Decoded<typeof definitionInput>): Readonly<Record<string, unknown>> {
  const parts = { ...rest, thank_you: thankYou }
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined))
}

export const newForm = z.strictObject({
  name,
  project_id: projectId.optional(),
  template: z.enum(starterNames).optional().meta({ description: 'A form to start with. Replaces definition.' }),
  html: z.string().min(1).max(131_072).optional().meta({
    description: 'HTML of a page with a form: its controls become fields. Replaces template and definition.',
  }),
  definition: json.optional().meta({ description: 'A complete definition, such as an exported one. It must be publishable.' }),
})

export const importInput = z.strictObject({
  format: z.literal('postern.form/1').optional(),
  definition: json,
  name: name.optional().meta({ description: 'Defaults to the name in the definition.' }),
  project_id: projectId.optional(),
})

export const formChanges = z.strictObject({ name: name.optional(), project_id: projectId.optional() })
export const duplicateInput = z.strictObject({ project_id: projectId.optional() })
export const removal = z.strictObject({ confirm: z.string().max(1000).optional().meta({ description: 'The name of the form.' }) })
export const captchaSecret = z.strictObject({
  secret: z.string().min(1).max(500).nullable().meta({ description: 'Stored encrypted and never shown; null removes it.' }),
})
export const publication = z.strictObject({ note: line(500, 'Stored with the version.').default('') })
export const checkInput = z.strictObject({
  definition: json.optional().meta({ description: 'Defaults to the draft.' }),
})

export const draftInput = z.strictObject({
  ...definitionFields,
  if_match: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'ETag of the revision to replace. Without it, the current revision is replaced unconditionally.' }),
})

export const formFilter = {
  project,
  status: z.enum(formStatuses).optional(),
  q: line(definitionLimits.name, 'Part of the name. Case-insensitive.').optional(),
}

const versionText = [/^[1-9]\d{0,8}$/, 'must be the number of a version, such as 1'] as const
const version = withNumberForm(z.int().min(1).max(999_999_999), ...versionText)
export const versionInput = z.strictObject({ version })
export const rollbackInput = z.strictObject({ version, note: line(500, 'Stored with the version.').default('') })
export const diffInput = z.strictObject({
  version,
  against: withNumberForm(
    z.int().min(1).max(999_999_999).optional().meta({ description: 'Defaults to the previous version.' }),
    ...versionText,
  ),
})

const formFields = {
  id: z.string(),
  public_id: z.string().meta({ description: 'Id of the form in its public URLs.' }),
  name: z.string(),
  status: z.enum(formStatuses).meta({ description: 'Visitors can load published forms only.' }),
  version: z.int().meta({ description: 'The published version, or the last published version; 0 until the first.' }),
  project_id: z.string(),
  has_captcha_secret: z.boolean(),
  published_at: wireTime.nullable(),
  created_at: wireTime,
  updated_at: wireTime,
}
const formShape = z.object(formFields).meta({ id: 'Form' })
const listedFormShape = z
  .object({
    ...formFields,
    submissions_new: z.int().meta({ description: 'Submissions with the status `new`.' }),
    submissions_by_status: z
      .object({ new: z.int(), read: z.int(), replied: z.int(), archived: z.int(), spam: z.int() })
      .meta({ description: 'Number of submissions by status.' }),
  })
  .meta({ id: 'ListedForm' })

const error = z.object({ path: z.string(), code: z.string(), message: z.string() })
const warning = z.object({
  path: z.string(),
  code: z.string(),
  message: z.string(),
  ratio: z.number().optional().meta({ description: 'The contrast, from 1 to 21.' }),
  required: z.number().optional(),
  proposed: z.string().optional().meta({ description: 'A color with the required contrast.' }),
})
const checks = {
  valid: z.boolean().meta({ description: 'Whether the definition can be published.' }),
  errors: z.array(error),
  warnings: z.array(warning),
}

const draftShape = z
  .object({
    form_id: z.string(),
    revision: z.int(),
    definition: json,
    edited_by: z.string().meta({ description: 'Id of the key or person that saved it last.' }),
    edited_at: wireTime,
    ...checks,
  })
  .meta({ id: 'FormDraft' })

const versionFields = {
  form_id: z.string(),
  version: z.int(),
  note: z.string(),
  rolled_back_to: z.int().nullable().meta({ description: 'The version restored by this rollback.' }),
  published_by: z.string(),
  created_at: wireTime,
}

const change = z
  .object({
    kind: z.enum(['added', 'removed', 'changed', 'moved']),
    path: z.string().meta({ description: 'Path of the change, such as fields.email.label or settings.submit_label.' }),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  })
  .meta({ id: 'FormDefinitionChange' })

const checksOf = ({ errors, warnings }: Pick<CheckedDefinition, 'errors' | 'warnings'>) => ({
  valid: errors.length === 0,
  errors: [...errors],
  warnings: [...warnings],
})

export const form = encoder(formShape).from<Form>({ has_captcha_secret: ({ sealedCaptchaSecret }) => sealedCaptchaSecret !== null })
export const listedForm = encoder(listedFormShape).from<ListedForm>({
  has_captcha_secret: ({ sealedCaptchaSecret }) => sealedCaptchaSecret !== null,
})
const draftFacts = encoder(draftShape.omit({ valid: true, errors: true, warnings: true })).from<CheckedDraft['draft']>({
  form_id: ({ id: formId }) => formId,
})
export const formDraft = encoderOf(draftShape, ({ draft, ...found }: CheckedDraft) => ({ ...draftFacts.encode(draft), ...checksOf(found) }))
export const definitionCheck = encoderOf(z.object(checks).meta({ id: 'FormCheck' }), checksOf)
export const formVersionSummary = encoder(z.object(versionFields).meta({ id: 'FormVersionSummary' })).from<FormVersion>()
export const formVersion = encoderOf(
  z.object({ ...versionFields, definition: json }).meta({ id: 'FormVersion' }),
  (published: FormVersion) => ({ ...formVersionSummary.encode(published), definition: { ...published.definition } }),
)
export const definitionDiff = listEncoder(encoderOf(change, (one: DefinitionChange) => one))
export const exportedForm = encoderOf(
  z.object({ format: z.literal('postern.form/1'), definition: json }).meta({ id: 'ExportedForm' }),
  (definition: Readonly<Record<string, unknown>>) => ({ format: 'postern.form/1' as const, definition }),
)
