/** Templates of other services on the wire, and what came of them. */
import * as z from 'zod'
import { templateOutcomes, type MovedTemplate, type TemplateFinding, type TemplateOutcome } from '#core/moving/template-import.ts'
import { translated, type TranslatedPart } from '#ingest/templates/translate.ts'
import type { ForeignTemplate } from '#ingest/templates/template-documents.ts'
import { encoderOf } from '../fields/codec.ts'
import { id } from '../fields/text.ts'
import { service } from '../feedback/moved-list.ts'

export const movedTemplatesInput = z.strictObject({
  service: service.optional(),
  document: z
    .union([z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .meta({ description: 'A template as the service answers it, or several; with `service`, `{id, name, subject, text, html}` too.' }),
  project_id: id.optional(),
  dry_run: z.boolean().default(false),
  replace: z.boolean().default(false).meta({ description: 'A template that exists with other content gets a new version.' }),
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
        id: z.string().nullable().meta({ description: 'Null for a refused template, and for one that a dry run would create.' }),
        findings: z
          .array(finding)
          .meta({ description: 'What could not be taken, of a refused template; otherwise what is different here.' }),
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

/** A template of a service as the core takes it: translated, with what could not be. */
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
  if (isUntitled) notes.push({ part: 'subject', message: 'it has none, so its name stands there; a send can give another' })
  const subject = isUntitled ? name.replaceAll(/[\s{}]+/g, ' ') : take('subject', parts.subject)
  const content = { subject: subject ?? '', text: take('text', parts.text), html: take('html', parts.html) }
  // without a declared variable, what is not given stays empty, as these services do
  return { key, name, content: { ...content, schema: { type: 'object' } }, problems, notes }
}
