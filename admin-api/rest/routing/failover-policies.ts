/** Failover policies. Spec "Destinations, routing, projects". */
import * as z from 'zod'
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { failoverPolicy, failoverPolicyInput, setFailoverPolicy } from '../../wire/routing/failover-policy.ts'
import { project } from '../../wire/fields/paging.ts'
import type { RestCore } from '../rest-core.ts'

const policies = resource('/v1/failover/policy', {
  name: 'FailoverPolicy',
  plural: 'FailoverPolicies',
  tags: ['routing'],
  graphql: true,
  key: 'primary_id',
})

export const failoverPolicyActions: readonly Action<RestCore>[] = [
  policies.list({
    summary: 'List failover policies, oldest first',
    item: failoverPolicy,
    run: ({ core, principal }, page) => core.failoverPolicies.list(principal, page),
  }),
  policies.create({
    id: 'setFailoverPolicy',
    summary: 'Set the failover policy of a destination',
    description:
      'Defines the fallback destinations of a primary destination, and the conditions for a failover. Idempotent: replaces an ' +
      'existing policy of this primary destination. Recipients already accepted or permanently refused are never sent to a ' +
      'fallback, and fallbacks in sandbox mode are skipped. After the last fallback, the retry schedule restarts at the primary ' +
      'destination.',
    input: failoverPolicyInput,
    output: setFailoverPolicy,
    tool: {
      name: 'email_failover_policy_set',
      toolset: 'operate',
      description:
        'Set the fallback destinations of a primary destination, and the conditions for a failover; replaces its current policy. ' +
        'To select the destination of mail use email_routing_rule_create. Next: email_provider_health of each.',
      arguments: ['primary_id', 'fallback_ids', 'conditions'],
      hints: { destructive: true, idempotent: true },
    },
    examples: {
      input: {
        primary_id: 'dst_01935c0000007000800000000000000000',
        fallback_ids: ['dst_01935c0000007000800000000000000001'],
        conditions: { on: ['transient', 'breaker_open', 'misconfigured'] },
      },
    },
    http: { status: 200 },
    run: ({ core, principal }, { conditions, ...policy }) => core.failoverPolicies.set(principal, { ...policy, ...conditions }),
  }),
  policies.remove({
    summary: 'Delete the failover policy of a destination',
    input: z.strictObject({ project }),
    run: ({ core, principal }, { primaryId, project: projectId }) => core.failoverPolicies.remove(principal, primaryId, projectId),
  }),
]
