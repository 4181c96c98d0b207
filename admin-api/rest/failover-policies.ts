/** Failover policies. Spec "Destinations, routing, projects". */
import * as z from 'zod'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { failoverPolicyBody, failoverPolicyShape, primaryParams, toFailoverRequest, toWireFailoverPolicy } from '../wire/failover-policy.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import type { RestCore } from './core.ts'

const tags = ['routing']

export const failoverPolicyOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/failover/policy',
    operationId: 'listFailoverPolicies',
    summary: 'List failover policies, the oldest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(failoverPolicyShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const page = await core.failoverPolicies.list(scope, { limit, cursor, projectId: project })
      return { data: page.rows.map(toWireFailoverPolicy), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/failover/policy',
    operationId: 'setFailoverPolicy',
    summary: 'Say which destinations take over for another one, and when',
    description:
      'Idempotent: the policy of this primary destination is replaced. Recipients that were accepted or refused for good are never ' +
      'handed to a fallback; fallbacks in sandbox mode are passed over. After the last fallback the retry schedule begins at the primary again.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    body: failoverPolicyBody,
    response: failoverPolicyShape,
    examples: {
      body: {
        primary_id: 'dst_01935c0000007000800000000000000000',
        fallback_ids: ['dst_01935c0000007000800000000000000001'],
        conditions: { on: ['transient', 'breaker_open', 'misconfigured'] },
      },
    },
    handle: async ({ scope, body }) => toWireFailoverPolicy(await core.failoverPolicies.set(scope, toFailoverRequest(body))),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/failover/policy/{primary_id}',
    operationId: 'deleteFailoverPolicy',
    summary: 'Delete the failover policy of a destination',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['not_found', 'conflict'],
    params: primaryParams,
    query: z.strictObject({ project: pagingFields.project }),
    response: noBody,
    handle: ({ scope, params, query }) => core.failoverPolicies.remove(scope, params.primary_id, query.project),
  }),
]
