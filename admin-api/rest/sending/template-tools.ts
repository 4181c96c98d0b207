/** The tool that saves templates; it combines two REST operations, create and update. Spec "Versioning" 2. */
import { action, type Action } from '../../actions/action.ts'
import { newTemplate, template, templateContent } from '../../wire/sending/template.ts'
import type { RestCore } from '../rest-core.ts'

export const templateTools: readonly Action<RestCore>[] = [
  action({
    id: 'saveTemplate',
    summary: 'Save a template',
    tags: ['templates'],
    feature: 'templates',
    scope: 'api:admin',
    input: newTemplate,
    output: template,
    tool: {
      name: 'email_template_create',
      toolset: 'templates',
      resource: 'email://templates/{id}',
      description:
        'Save a template under a slug: creates it, or adds a new version if the slug exists. The new version replaces the whole ' +
        'content for later sends. Write variables as {{name}}; declare them in schema_json. Next: email_template_render_preview, ' +
        'then email_send_test with template_slug.',
      arguments: ['slug', 'name', 'subject_tmpl', 'text_tmpl', 'html_tmpl', 'schema_json'],
    },
    async run({ core, principal }, { slug, name, projectId, ...fields }) {
      const content = templateContent(fields)
      const present = await core.templates.bySlug(principal, slug)
      if (present) return core.templates.save(principal, present.id, { slug, name, content })
      return core.templates.create(principal, { slug, name, projectId, content })
    },
  }),
]
