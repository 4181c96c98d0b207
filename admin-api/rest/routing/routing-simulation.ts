/** The decision about a message under the current settings, without sending it. Spec "Routing rule". */
import { action, type Action } from '../../actions/action.ts'
import { simulation, simulationInput, toSimulationRequest } from '../../wire/routing/routing-simulation.ts'
import { toWhatIfRequest, whatIf, whatIfInput } from '../../wire/routing/what-if.ts'
import type { RestCore } from '../rest-core.ts'

export const routingSimulationActions: readonly Action<RestCore>[] = [
  action({
    id: 'simulateRouting',
    summary: 'Simulate the routing of a message',
    description:
      'Shows the rule, the destination and the outcome of the message under the current settings, with reasons. Sends, counts ' +
      'and stores nothing. Describe the message by from, to and the other fields, or give the trace_id of an accepted message: ' +
      'the response then also shows its actual outcome, and the differences from it now.',
    tags: ['routing'],
    scope: 'api:read',
    errors: ['not_found'],
    input: simulationInput,
    output: simulation,
    examples: { input: { from: 'shop@example.ch', to: 'ada@example.ch' } },
    http: { method: 'POST', path: '/v1/routing/simulate' },
    run: ({ core, principal }, { traceId, ...described }) =>
      traceId === undefined
        ? core.simulate.ofRequest(principal, toSimulationRequest(described))
        : core.simulate.ofTrace(principal, traceId),
  }),
  action({
    id: 'simulateRoutingChanges',
    summary: 'Simulate changed settings over stored traces',
    description:
      'Shows the destination of each stored message of a project under changed settings, oldest first: additional or omitted ' +
      'rules, a failover policy, unavailable destinations, a send budget, a capture cap, a plan, a no-route policy. The decision ' +
      'is the decision of a send, with the current suppressions and credentials. Budget, capture cap, sends per day of the plan ' +
      'and rates of SMTP credentials are counted through each UTC day, month and minute from the first trace examined; sends of ' +
      'other projects on a day come from its counters. Sends, counts and stores nothing. A page can contain fewer entries than ' +
      '`limit`, even zero, and still have a next page.',
    tags: ['routing'],
    scope: 'api:read',
    errors: ['not_found'],
    input: whatIfInput,
    output: whatIf,
    examples: { input: { rules: [{ match: 'example.ch', destination_id: 'dst_01935c0000007000800000000000000000' }], send_budget: 500 } },
    http: { method: 'POST', path: '/v1/routing/what-if' },
    run: ({ core, principal }, asked) => core.whatIf.page(principal, toWhatIfRequest(asked)),
  }),
]
