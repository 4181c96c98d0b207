/** Templates imported from other services, on the wire, and the import report. */
import * as z from 'zod'
import { templateOutcomes, type MovedTemplate, type TemplateFinding, type TemplateOutcome } from '#core/moving/template-import.ts'
import { translated, type TranslatedPart } from '#ingest/templates/translate.ts'
import type { ForeignTemplate } from '#ingest/templates/template-documents.ts'
import { encoderOf } from '../fields/codec.ts'
import { id } from '../fields/text.ts'
import { service } from '../feedback/moved-list.ts'

export const movedTemplatesInput = z.strictObject({
  service: service.optional(),
  document: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).meta({
    description: 'A template in the response format of the service, or several; with `service`, also `{id, name, subject, text, html}`.',
  }),
  project_id: id.optional(),
  dry_run: z.boolean().default(false),
  replace: z.boolean().default(false).meta({ description: 'Adds a new version to an existing template whose content differs.' }),
})

const finding = z.object({
  part: z.enum(['subject', 'text', 'html', 'template']),
  message: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
})
const reportShape = z
  .object({
    total: z.int(),
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    refused: z.int(),
    templates: z.array(
      z.object({
        slug: z.string(),
        name: z.string(),
        result: z.enum(templateOutcomes),
        id: z.string().nullable().meta({ description: 'Null for a refused template, and in a dry run for a template to create.' }),
        findings: z.array(finding).meta({
          description: 'For a refused template: the parts that cannot be imported. Otherwise: the differences from the original.',
        }),
      }),
    ),
  })
  .meta({ id: 'TemplateImportReport' })

export const movedTemplates = encoderOf(reportShape, (outcomes: readonly TemplateOutcome[]) => {
  const count = (result: TemplateOutcome['result']): number => outcomes.filter((one) => one.result === result).length
  return {
    total: outcomes.length,
    ...{ created: count('created'), updated: count('updated'), unchanged: count('unchanged'), refused: count('refused') },
    templates: outcomes.map(({ findings, ...one }) => ({ ...one, findings: findings.map((each) => ({ ...each })) })),
  }
})

type Part = 'subject' | 'text' | 'html'

/** Converts a template of a service to the core's form: its translation and the problems found. */
export function toMovedTemplate({ service: from, key, name, fallbacks, problem, ...parts }: ForeignTemplate): MovedTemplate {
  const problems: TemplateFinding[] = problem === undefined ? [] : [{ part: 'template', message: problem }]
  const notes: TemplateFinding[] = []
  const take = (part: Part, source: string | undefined): string | null => {
    if (source === undefined || problem !== undefined) return null
    const made: TranslatedPart = translated(from, source, part === 'html', fallbacks)
    problems.push(...made.problems.map((one) => ({ part, ...one })))
    notes.push(...made.notes.map((one) => ({ part, ...one })))
    return made.text
  }
  const isUntitled = parts.subject === undefined
  if (isUntitled) notes.push({ part: 'subject', message: 'the template has no subject, so its name is used; a send can give another' })
  const subject = isUntitled ? name.replaceAll(/[\s{}]+/g, ' ') : take('subject', parts.subject)
  const content = { subject: subject ?? '', text: take('text', parts.text), html: take('html', parts.html) }
  // without a declared variable, missing values render as empty text, as in these services
  return { key, name, content: { ...content, schema: { type: 'object' } }, problems, notes }
}
