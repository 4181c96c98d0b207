/** Templates with their versions and preview. Spec "Template", "Versioning" 2. */
import * as z from 'zod'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import {
  newTemplateBody,
  previewBody,
  previewShape,
  templateBodyBytesMax,
  templateSaveBody,
  templateShape,
  templateSummaryShape,
  toNewTemplate,
  toTemplateSave,
  toWireTemplate,
  toWireTemplateSummary,
  toWireVersion,
  toWireVersionSummary,
  versionParams,
  versionShape,
  versionSummaryShape,
} from '../wire/template.ts'
import { idParams, moveBody } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['templates']
const syntax =
  'Variables stand in double braces: {{.name}} or {{name}}, {{.order.total}}, {{if .x}}…{{else if .y}}…{{else}}…{{end}}, ' +
  '{{range .items}}{{.title}}…{{else}}…{{end}}; inside a range . is the entry and $ all variables. {{- and -}} take away white space, ' +
  '{{/* … */}} is a comment.'

export const templateOperations = (core: RestCore): readonly Operation[] => [
  ...resources(core),
  ...changing(core),
  ...moving(core),
  ...versions(core),
]

const resources = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/templates',
    operationId: 'listTemplates',
    summary: 'List templates, the newest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(templateSummaryShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const page = await core.templates.list(scope, { limit, cursor, projectId: project })
      return { data: page.rows.map(toWireTemplateSummary), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/templates/{id}',
    operationId: 'readTemplate',
    summary: 'Read a template with its current version',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: templateShape,
    handle: async ({ scope, params }) => toWireTemplate(await core.templates.get(scope, params.id)),
  }),
  operation({
    method: 'POST',
    path: '/v1/templates/{id}/preview',
    operationId: 'previewTemplate',
    summary: 'See what a template makes of variables',
    description: 'Nothing is sent or stored. Refused for the same reasons as a send with these variables.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    maxBodyBytes: templateBodyBytesMax,
    params: idParams,
    body: previewBody,
    response: previewShape,
    examples: { body: { variables: { name: 'Ada' } } },
    handle: ({ scope, params, body }) => core.templates.preview(scope, params.id, body.variables, body.version),
  }),
]

const changing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/templates',
    operationId: 'createTemplate',
    summary: 'Save a new template, as version 1',
    description: syntax,
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict', 'quota_exhausted'],
    maxBodyBytes: templateBodyBytesMax,
    body: newTemplateBody,
    response: templateShape,
    examples: {
      body: {
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
    handle: async ({ scope, body }) => toWireTemplate(await core.templates.create(scope, toNewTemplate(body))),
  }),
  operation({
    method: 'PUT',
    path: '/v1/templates/{id}',
    operationId: 'saveTemplate',
    summary: 'Save a template',
    description:
      'The content is replaced as a whole and becomes a new version, unless it is what the current version has already. ' +
      'Slug and name stay unless given.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    maxBodyBytes: templateBodyBytesMax,
    params: idParams,
    body: templateSaveBody,
    response: templateShape,
    handle: async ({ scope, params, body }) => toWireTemplate(await core.templates.save(scope, params.id, toTemplateSave(body))),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/templates/{id}',
    operationId: 'deleteTemplate',
    summary: 'Delete a template with all its versions',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.templates.remove(scope, params.id),
  }),
]

const moving = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'PATCH',
    path: '/v1/templates/{id}',
    operationId: 'moveTemplate',
    summary: 'Move a template with its versions to another project',
    description: 'Refused with conflict when its slug is taken there.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: moveBody,
    response: templateShape,
    async handle({ scope, params, body }) {
      await core.move(scope, { type: 'email_template', id: params.id, projectId: body.project_id })
      return toWireTemplate(await core.templates.get(scope, params.id))
    },
  }),
]

const versions = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/templates/{id}/versions',
    operationId: 'listTemplateVersions',
    summary: 'List the versions of a template, the newest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    query: z.strictObject({ limit: pagingFields.limit, cursor: pagingFields.cursor }),
    response: pageOf(versionSummaryShape),
    async handle({ scope, params, query }) {
      const page = await core.templates.versions(scope, params.id, query)
      return { data: page.rows.map(toWireVersionSummary), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/templates/{id}/versions/{version}',
    operationId: 'readTemplateVersion',
    summary: 'Read one version of a template',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: versionParams,
    response: versionShape,
    handle: async ({ scope, params }) => toWireVersion(await core.templates.version(scope, params.id, params.version)),
  }),
]
