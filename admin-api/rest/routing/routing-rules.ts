/** Routing rules. Spec "Destinations, routing, projects". */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { changedRoutingRule, newRoutingRule, routingRule, routingRuleChanges } from '../../wire/routing/routing-rule.ts'
import type { RestCore } from '../rest-core.ts'

const rules = resource('/v1/routing/rules', { name: 'RoutingRule', tags: ['routing'], graphql: true })

export const routingRuleActions: readonly Action<RestCore>[] = [
  rules.list({
    summary: 'List routing rules in order of evaluation',
    item: routingRule,
    run: ({ core, principal }, page) => core.routingRules.list(principal, page),
  }),
  rules.create({
    summary: 'Create a routing rule',
    input: newRoutingRule,
    output: changedRoutingRule,
    tool: {
      name: 'email_routing_rule_create',
      toolset: 'operate',
      description:
        'Route mail by its From address or domain to a destination, from now on; the smallest priority is matched first. For the ' +
        'failure of a destination use email_failover_policy_set. Next: email_send_test with that From.',
      arguments: ['match', 'destination_id', 'priority'],
      required: ['destination_id', 'priority'],
    },
    examples: { input: { match: { domain: 'example.ch' }, destination_id: 'dst_01935c0000007000800000000000000000', priority: 10 } },
    run: ({ core, principal }, rule) => core.routingRules.create(principal, rule),
  }),
  rules.read({
    summary: 'Get a routing rule',
    output: routingRule,
    run: ({ core, principal }, { id }) => core.routingRules.get(principal, id),
  }),
  rules.change({
    summary: 'Update a routing rule',
    input: routingRuleChanges,
    output: changedRoutingRule,
    run: ({ core, principal }, { id, ...changes }) => core.routingRules.update(principal, id, changes),
  }),
  rules.remove({
    summary: 'Delete a routing rule',
    run: ({ core, principal }, { id }) => core.routingRules.remove(principal, id),
  }),
]
