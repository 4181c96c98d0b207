/** Routing rules. Spec "Destinations, routing, projects". */
import * as z from 'zod'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { newRuleBody, routingRuleShape, ruleChangesBody, toNewRule, toRuleChanges, toWireRule } from '../wire/routing-rule.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['routing']

export const routingRuleOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/routing/rules',
    operationId: 'listRoutingRules',
    summary: 'List routing rules in the order in which they are tried',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(routingRuleShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const page = await core.routingRules.list(scope, { limit, cursor, projectId: project })
      return { data: page.rows.map(toWireRule), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/routing/rules',
    operationId: 'createRoutingRule',
    summary: 'Route a sender to a destination',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict'],
    body: newRuleBody,
    response: routingRuleShape,
    examples: { body: { match: { domain: 'example.ch' }, destination_id: 'dst_01935c0000007000800000000000000000', priority: 10 } },
    handle: async ({ scope, body }) => toWireRule(await core.routingRules.create(scope, toNewRule(body))),
  }),
  operation({
    method: 'GET',
    path: '/v1/routing/rules/{id}',
    operationId: 'readRoutingRule',
    summary: 'Read a routing rule',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: routingRuleShape,
    handle: async ({ scope, params }) => toWireRule(await core.routingRules.get(scope, params.id)),
  }),
  operation({
    method: 'PATCH',
    path: '/v1/routing/rules/{id}',
    operationId: 'updateRoutingRule',
    summary: 'Change a routing rule',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: ruleChangesBody,
    response: routingRuleShape,
    handle: async ({ scope, params, body }) => toWireRule(await core.routingRules.update(scope, params.id, toRuleChanges(body))),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/routing/rules/{id}',
    operationId: 'deleteRoutingRule',
    summary: 'Delete a routing rule',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.routingRules.remove(scope, params.id),
  }),
]
