/** Templates with their versions and previews. Spec "Template", "Versioning" 2. */
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
  'Write variables in double braces: {{.name}} or {{name}}, {{.order.total}}, {{if .x}}…{{else if .y}}…{{else}}…{{end}}, {{range ' +
  '.items}}{{.title}}…{{else}}…{{end}}. Inside a range, . is the entry and $ refers to all variables. {{- and -}} trim white ' +
  'space, {{/* … */}} is a comment.'

const reading: readonly Action<RestCore>[] = [
  templates.list({
    summary: 'List templates, newest first',
    filter: templateFilter,
    item: templateSummary,
    tool: {
      name: 'email_template_list',
      toolset: 'templates',
      description:
        'List the templates of the project: slug, name and current version. For the versions of a template use ' +
        'email_template_versions_list, and for a rendered preview email_template_render_preview.',
      arguments: [],
      fixed: { limit: 200 },
    },
    run: ({ core, principal }, page) => core.templates.list(principal, page),
  }),
  templates.read({
    summary: 'Get a template with its current version',
    output: template,
    run: ({ core, principal }, { id }) => core.templates.get(principal, id),
  }),
  templates.act('preview', {
    summary: 'Preview a template with variables',
    graphql: { root: 'query' },
    description: 'Sends and stores nothing. Refused for the same reasons as a send with these variables.',
    scope: 'api:read',
    errors: ['not_found'],
    input: previewInput,
    output: templatePreview,
    tool: {
      name: 'email_template_render_preview',
      toolset: 'templates',
      description:
        'Render a template with variables and get subject, text and HTML, as in a send. Stores and sends nothing. Use it before ' +
        'email_send_test with template_id and template_vars.',
      arguments: { template_id: 'id', variables: 'variables' },
    },
    examples: { input: { variables: { name: 'Ada' } } },
    http,
    run: ({ core, principal }, { id, variables, version }) => core.templates.preview(principal, id, variables, version),
  }),
]

const trying: readonly Action<RestCore>[] = [
  action({
    id: 'checkTemplate',
    summary: 'Check the content of a template without saving it',
    description:
      'Returns problems that prevent saving, warnings, the variables that the content uses, and a preview with the given ' +
      'variables. Problems are not errors of the request: the status is 200.',
    tags: ['templates'],
    feature: 'templates',
    scope: 'api:read',
    input: checkInput,
    output: templateCheck,
    examples: {
      input: { subject_tmpl: 'Your order {{.number}}', text_tmpl: 'Thank you, {{.name}}.', variables: { number: 17, name: 'Ada' } },
    },
    http: { ...http, method: 'POST', path: '/v1/templates/check' },
    run: ({ core }, { variables, ...fields }) => core.templates.check(templateContent(fields), variables),
  }),
  templates.act('test', {
    summary: 'Send a test of a template to a captured inbox',
    description:
      'Processes the message like a send and captures it, regardless of the destination and its mode: nothing leaves the ' +
      'service. The message is in the inbox of the recipient or in the catch-all inbox of the project, and counts as a capture.',
    scope: 'api:send',
    errors: ['not_found', 'quota_exhausted_captures', 'quota_exhausted', 'project_budget_exhausted', 'storage_full'],
    input: testInput,
    output: acceptance,
    examples: { input: { to: 'ada@example.ch', variables: { name: 'Ada' } } },
    http,
    async run({ core, principal }, { id, ...asked }) {
      const { template: named } = await core.templates.get(principal, id)
      return core.sendMessages.send(principal, toTestOrder(asked, named))
    },
  }),
]

const changing: readonly Action<RestCore>[] = [
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
    run: ({ core, principal }, { slug, name, projectId, ...content }) =>
      core.templates.create(principal, { slug, name, projectId, content: templateContent(content) }),
  }),
  templates.change({
    summary: 'Update a template',
    description:
      'Replaces the whole content and creates a new version, unless the content equals the content of the current version. If ' +
      'omitted, slug and name keep their values.',
    input: templateSave,
    output: template,
    http: { ...http, method: 'PUT' },
    run: ({ core, principal }, { id, slug, name, ...content }) =>
      core.templates.save(principal, id, { slug, name, content: templateContent(content) }),
  }),
  templates.remove({
    summary: 'Delete a template with all its versions',
    tool: {
      name: 'email_template_delete',
      toolset: 'templates',
      description:
        'Permanently delete a template with all its versions; later sends with it are refused. Ask the user first. To change a ' +
        'template use email_template_create with its slug.',
      hints: { destructive: true },
    },
    run: ({ core, principal }, { id }) => core.templates.remove(principal, id),
  }),
  templates.change({
    id: 'moveTemplate',
    graphql: 'none', // Exposed in GraphQL as moveResource.
    summary: 'Move a template to another project',
    description: 'All versions move with it. Refused with `conflict` if the slug is taken in the other project.',
    input: moveBody,
    output: template,
    async run({ core, principal }, { id, projectId }) {
      await core.move(principal, { type: 'email_template', id, projectId })
      return core.templates.get(principal, id)
    },
  }),
]

const versions: readonly Action<RestCore>[] = [
  templates.listOf('versions', {
    summary: 'List the versions of a template, newest first',
    tool: {
      name: 'email_template_versions_list',
      toolset: 'templates',
      description:
        'List the versions of a template, newest first; every save creates a version. A send can select a version with ' +
        'template_version.',
      arguments: { template_id: 'id', limit: 'limit' },
    },
    item: templateVersionSummary,
    run: ({ core, principal }, query) => core.templates.versions(principal, query),
  }),
  templates.readOf('versions/{version}', {
    id: 'getTemplateVersion',
    summary: 'Get a version of a template',
    input: versionInput,
    output: templateVersion,
    run: ({ core, principal }, { id, version }) => core.templates.version(principal, id, version),
  }),
]

export const templateActions: readonly Action<RestCore>[] = [...reading, ...trying, ...changing, ...versions]
