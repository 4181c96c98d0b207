/** Organizations: the own one and its team organizations. */
import * as z from 'zod'
import { graceDays } from '#core/tenancy/removal-key.ts'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { deletionQuery, toDeletion } from '../wire/discard-queued.ts'
import { madeOrganizationShape, organizationBody, organizationShape, toWireOrganization } from '../wire/organization.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['organizations']

export const organizationOperations = (core: RestCore): readonly Operation[] => [...reading(core), ...writing(core)]

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/organizations',
    operationId: 'listOrganizations',
    summary: 'List the own organization and the team organizations it made',
    description: 'The own one comes first, then the others, the oldest first. A key of one project sees the own one only.',
    tags,
    right: 'api:read',
    query: z.strictObject({ limit: pagingFields.limit, cursor: pagingFields.cursor }),
    response: pageOf(organizationShape),
    async handle({ scope, query }) {
      const page = await core.organizations.list(scope, query)
      return { data: page.rows.map(toWireOrganization), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/organizations/{id}',
    operationId: 'readOrganization',
    summary: 'Read an organization: its plan, limits and payment state',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: organizationShape,
    handle: async ({ scope, params }) => toWireOrganization(await core.organizations.get(scope, params.id)),
  }),
]

const writing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/organizations',
    operationId: 'createOrganization',
    summary: 'Make a team organization',
    description:
      'A key belongs to one organization, so the answer has a first key of the new one, shown this once. It begins on the plan free, with ' +
      'its project Default. How many are alive at the same time is a limit of the plan.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['conflict', 'quota_exhausted'],
    body: organizationBody,
    response: madeOrganizationShape,
    examples: { body: { name: 'Bakery' } },
    async handle({ scope, body }) {
      const { organization, apiKey } = await core.organizations.create(scope, body.name)
      return { ...toWireOrganization(organization), api_key: apiKey }
    },
  }),
  operation({
    method: 'PATCH',
    path: '/v1/organizations/{id}',
    operationId: 'renameOrganization',
    summary: 'Rename an organization',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: organizationBody,
    response: organizationShape,
    handle: async ({ scope, params, body }) => toWireOrganization(await core.organizations.rename(scope, params.id, body.name)),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/organizations/{id}',
    operationId: 'deleteOrganization',
    summary: 'Delete a team organization',
    description:
      `At once none of its keys and logins works, and nothing is sent for it any more. For ${graceDays} days the operator can restore it; then ` +
      'everything of it is removed. Refused with conflict while mail is queued, unless discard_queued is true: then that mail fails.',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['not_found', 'conflict'],
    params: idParams,
    query: deletionQuery,
    response: noBody,
    handle: ({ scope, params, query }) => core.organizations.remove(scope, params.id, toDeletion(query)),
  }),
]
