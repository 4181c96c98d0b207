/** Templates with their versions and preview. Spec "Template", "Versioning" 2. */
import { action, type Action } from '../../actions/action.ts'
import { acceptance } from '../../wire/sending/send.ts'
import { resource } from '../../actions/resource.ts'
import {
  checkInput,
  newTemplate,
  previewInput,
  template,
  maxTemplateBodyBytes,
  templateCheck,
  templateContent,
  templateFilter,
  templatePreview,
  templateSave,
  templateSummary,
  templateVersion,
  templateVersionSummary,
  testInput,
  toTestOrder,
  versionInput,
} from '../../wire/sending/template.ts'
import { moveBody } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const templates = resource('/v1/templates', {
  name: 'Template',
  tags: ['templates'],
  feature: 'templates',
  graphql: { one: 'EmailTemplate', many: 'EmailTemplates' },
})
const http = { maxBodyBytes: maxTemplateBodyBytes }

const syntax =
  'Variables are written in double braces: {{.name}} or {{name}}, {{.order.total}}, {{if .x}}…{{else if .y}}…{{else}}…{{end}}, ' +
  '{{range .items}}{{.title}}…{{else}}…{{end}}; inside a range, . is the entry and $ refers to all variables. {{- and -}} trim white space, ' +
  '{{/* … */}} is a comment.'

export const templateActions = (core: RestCore): readonly Action[] => [
  ...reading(core),
  ...trying(core),
  ...changing(core),
  ...versions(core),
]

const reading = ({ templates: core }: RestCore): readonly Action[] => [
  templates.list({
    summary: 'List templates, newest first',
    filter: templateFilter,
    item: templateSummary,
    tool: {
      name: 'email_template_list',
      toolset: 'templates',
      description:
        'List the templates of the project: slug, name and current version. For the versions of one use email_template_versions_list, ' +
        'and email_template_render_preview to see one filled in. Changes nothing.',
      arguments: [],
      fixed: { limit: 200 },
    },
    run: ({ principal }, page) => core.list(principal, page),
  }),
  templates.read({
    summary: 'Get a template with its current version',
    output: template,
    run: ({ principal }, { id }) => core.get(principal, id),
  }),
  templates.act('preview', {
    summary: 'Preview a template with variables',
    graphql: { root: 'query' },
    description: 'Nothing is sent or stored. Refused for the same reasons as a send with these variables.',
    scope: 'api:read',
    errors: ['not_found'],
    input: previewInput,
    output: templatePreview,
    tool: {
      name: 'email_template_render_preview',
      toolset: 'templates',
      description:
        'Render a template with variables and get subject, text and HTML, as a send with them would. Stores and sends nothing. Use it ' +
        'before email_send_test with template_id and template_vars.',
      arguments: { template_id: 'id', variables: 'variables' },
    },
    examples: { input: { variables: { name: 'Ada' } } },
    http,
    run: ({ principal }, { id, variables, version }) => core.preview(principal, id, variables, version),
  }),
]

const trying = ({ templates: core, sendMessages }: RestCore): readonly Action[] => [
  action({
    id: 'checkTemplate',
    summary: 'Check the content of a template without saving it',
    description:
      'Returns what would keep it from being saved, what is doubtful about it, the variables that it uses, and a preview with the given variables. ' +
      'Findings are no error: the status is 200.',
    tags: ['templates'],
    feature: 'templates',
    scope: 'api:read',
    input: checkInput,
    output: templateCheck,
    examples: {
      input: { subject_tmpl: 'Your order {{.number}}', text_tmpl: 'Thank you, {{.name}}.', variables: { number: 17, name: 'Ada' } },
    },
    http: { ...http, method: 'POST', path: '/v1/templates/check' },
    run: (_, { variables, ...fields }) => core.check(templateContent(fields), variables),
  }),
  templates.act('test', {
    summary: 'Send a test of a template to a captured inbox',
    description:
      'Decides and composes as a send does and captures the message, whatever the destination and its mode: nothing leaves the service. ' +
      'It is in the inbox of the recipient or in the catch-all inbox of the project, and counts as a capture.',
    scope: 'api:send',
    errors: ['not_found', 'quota_exhausted_captures', 'quota_exhausted', 'project_budget_exhausted', 'storage_full'],
    input: testInput,
    output: acceptance,
    examples: { input: { to: 'ada@example.ch', variables: { name: 'Ada' } } },
    http,
    async run({ principal }, { id, ...asked }) {
      const { template: named } = await core.get(principal, id)
      return sendMessages.send(principal, toTestOrder(asked, named))
    },
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
    tool: {
      name: 'email_template_delete',
      toolset: 'templates',
      description:
        'Delete a template and all of its versions, for good; sends that name it are refused from then on. Ask the user first. To ' +
        'change a template use email_template_create with its slug.',
      hints: { destructive: true },
    },
    run: ({ principal }, { id }) => core.remove(principal, id),
  }),
  templates.change({
    id: 'moveTemplate',
    graphql: 'none', // moveResource
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
    tool: {
      name: 'email_template_versions_list',
      toolset: 'templates',
      description:
        'List the versions of one template, newest first; every save made one. A send can pin one with template_version. For all ' +
        'templates use email_template_list. Changes nothing.',
      arguments: { template_id: 'id', limit: 'limit' },
    },
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
