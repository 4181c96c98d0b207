/** Templates with their versions and preview. Spec "Template", "Versioning" 2. */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import {
  newTemplate,
  previewInput,
  template,
  maxTemplateBodyBytes,
  templateContent,
  templatePreview,
  templateSave,
  templateSummary,
  templateVersion,
  templateVersionSummary,
  versionInput,
} from '../../wire/sending/template.ts'
import { moveBody } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const templates = resource('/v1/templates', { name: 'Template', tags: ['templates'], feature: 'templates' })
const http = { maxBodyBytes: maxTemplateBodyBytes }

const syntax =
  'Variables are written in double braces: {{.name}} or {{name}}, {{.order.total}}, {{if .x}}…{{else if .y}}…{{else}}…{{end}}, ' +
  '{{range .items}}{{.title}}…{{else}}…{{end}}; inside a range, . is the entry and $ refers to all variables. {{- and -}} trim white space, ' +
  '{{/* … */}} is a comment.'

export const templateActions = (core: RestCore): readonly Action[] => [...reading(core), ...changing(core), ...versions(core)]

const reading = ({ templates: core }: RestCore): readonly Action[] => [
  templates.list({
    summary: 'List templates, newest first',
    item: templateSummary,
    run: ({ principal }, page) => core.list(principal, page),
  }),
  templates.read({
    summary: 'Get a template with its current version',
    output: template,
    run: ({ principal }, { id }) => core.get(principal, id),
  }),
  templates.act('preview', {
    summary: 'Preview a template with variables',
    description: 'Nothing is sent or stored. Refused for the same reasons as a send with these variables.',
    scope: 'api:read',
    errors: ['not_found'],
    input: previewInput,
    output: templatePreview,
    examples: { input: { variables: { name: 'Ada' } } },
    http,
    run: ({ principal }, { id, variables, version }) => core.preview(principal, id, variables, version),
  }),
]

const changing = ({ templates: core, move }: RestCore): readonly Action[] => [
  templates.create({
    summary: 'Create a template, as version 1',
    description: syntax,
    errors: ['not_found', 'conflict', 'quota_exhausted'],
    input: newTemplate,
    output: template,
    examples: {
      input: {
        slug: 'order-confirmation',
        name: 'Order confirmation',
        subject_tmpl: 'Your order {{.number}}',
        text_tmpl: 'Thank you, {{.name}}.',
        schema_json: {
          type: 'object',
          properties: { number: { type: 'integer' }, name: { type: 'string' } },
          required: ['number', 'name'],
        },
      },
    },
    http,
    run: ({ principal }, { slug, name, projectId, ...content }) =>
      core.create(principal, { slug, name, projectId, content: templateContent(content) }),
  }),
  templates.change({
    summary: 'Update a template',
    description:
      'Replaces the whole content and creates a new version, unless the content equals that of the current version. ' +
      'Slug and name keep their values when they are left out.',
    input: templateSave,
    output: template,
    http: { ...http, method: 'PUT' },
    run: ({ principal }, { id, slug, name, ...content }) => core.save(principal, id, { slug, name, content: templateContent(content) }),
  }),
  templates.remove({
    summary: 'Delete a template with all its versions',
    run: ({ principal }, { id }) => core.remove(principal, id),
  }),
  templates.change({
    id: 'moveTemplate',
    summary: 'Move a template to another project',
    description: 'All versions move with it. Refused with `conflict` when its slug is taken there.',
    input: moveBody,
    output: template,
    async run({ principal }, { id, projectId }) {
      await move(principal, { type: 'email_template', id, projectId })
      return core.get(principal, id)
    },
  }),
]

const versions = ({ templates: core }: RestCore): readonly Action[] => [
  templates.listOf('versions', {
    summary: 'List the versions of a template, newest first',
    item: templateVersionSummary,
    run: ({ principal }, query) => core.versions(principal, query),
  }),
  templates.readOf('versions/{version}', {
    id: 'getTemplateVersion',
    summary: 'Get a version of a template',
    input: versionInput,
    output: templateVersion,
    run: ({ principal }, { id, version }) => core.version(principal, id, version),
  }),
]
