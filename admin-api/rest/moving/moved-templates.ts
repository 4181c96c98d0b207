/** Import of templates from another service. */
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
      'Accepts the services’ responses for a template or a list of templates. Variables, defaults, conditions and loops are ' +
      'translated; a template with other constructs is refused, and the report names them with line and column. The slug is the ' +
      'name of the template in requests to that service. Idempotent.',
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
        throw invalid([{ path: 'document', message: `has ${found.length} templates; an import can contain at most ${maxMovedTemplates}` }])
      const known = found.flatMap((one) => foreignTemplate(one, service ?? undefined) ?? [])
      if (known.length === 0)
        throw invalid([
          {
            path: 'document',
            message: 'contains no template of a known service; name the service, or give {id, name, subject, text, html}',
          },
        ])
      const templates = known.map((one) => () => toMovedTemplate(one))
      return core.templateImport.run(principal, { templates, projectId, isDryRun: dryRun, replaces: replace })
    },
  }),
]
