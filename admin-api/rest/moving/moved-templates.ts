/** Moving in: templates of another service. */
import { maxMovedTemplates } from '#core/moving/template-import.ts'
import { invalid } from '#core/refusals.ts'
import { foreignTemplate, templatesIn } from '#ingest/templates/template-documents.ts'
import { action, type Action } from '../../actions/action.ts'
import { movedTemplates, movedTemplatesInput, toMovedTemplate } from '../../wire/sending/moved-template.ts'
import type { RestCore } from '../rest-core.ts'

const maxBodyBytes = 16 * 1024 * 1024

export const serviceTemplateActions: readonly Action<RestCore>[] = [
  action({
    id: 'importServiceTemplates',
    summary: 'Import the templates of another service',
    description:
      'Accepts what the services answer for a template or a list of templates. Variables, defaults, conditions and loops are translated; a template with anything else is refused, and the report states ' +
      'what it is, with line and column. The slug is that by which requests to the service name the template. Idempotent.',
    tags: ['templates'],
    feature: 'templates',
    scope: 'api:admin',
    errors: ['not_found', 'conflict', 'quota_exhausted', 'storage_full'],
    input: movedTemplatesInput,
    output: movedTemplates,
    examples: {
      input: {
        document: {
          TemplateId: 17,
          Alias: 'welcome',
          Name: 'Welcome',
          Subject: 'Hello {{name}}',
          TextBody: 'Hello {{name}}',
          HtmlBody: null,
        },
        dry_run: true,
      },
    },
    http: { method: 'POST', path: '/v1/templates/service-import', maxBodyBytes },
    async run({ core, principal }, { service, document, projectId, dryRun, replace }) {
      const found = templatesIn(document)
      if (found.length > maxMovedTemplates)
        throw invalid([{ path: 'document', message: `has ${found.length} templates; an import can have ${maxMovedTemplates}` }])
      const known = found.flatMap((one) => foreignTemplate(one, service ?? undefined) ?? [])
      if (known.length === 0)
        throw invalid([
          {
            path: 'document',
            message: 'has no template of a service that is known; name the service, or give {id, name, subject, text, html}',
          },
        ])
      const templates = known.map((one) => () => toMovedTemplate(one))
      return core.templateImport.run(principal, { templates, projectId, isDryRun: dryRun, replaces: replace })
    },
  }),
]
