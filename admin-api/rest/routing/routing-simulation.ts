/** What a message would get now, without sending it. Spec "Routing rule". */
import { action, type Action } from '../../actions/action.ts'
import { simulation, simulationInput, toSimulationRequest } from '../../wire/routing/routing-simulation.ts'
import { toWhatIfRequest, whatIf, whatIfInput } from '../../wire/routing/what-if.ts'
import type { RestCore } from '../rest-core.ts'

export const routingSimulationActions: readonly Action<RestCore>[] = [
  action({
    id: 'simulateRouting',
    summary: 'Simulate the routing of a message',
    description:
      'Shows which rule, destination and outcome the message would get now, and why. Nothing is sent, counted or stored. ' +
      'Describe the message by from, to and the other fields, or give the trace_id of one that was accepted: ' +
      'the response then also shows its actual outcome, and what would be different now.',
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
      'Shows where each stored message of a project would go under other settings, from the oldest: rules added or left out, a failover policy, ' +
      'destinations that are down, a send budget, a capture cap, a plan, a no-route policy. The decision is that of a send, with the suppressions and credentials of now. ' +
      'Budget, capture cap, sends per day of the plan and rates of SMTP credentials are counted along, through each UTC day, month and minute from the first trace ' +
      'that is walked; sends of other projects on a day come from its counters. Nothing is sent, counted or stored. ' +
      'A page can contain fewer entries than `limit`, even none, and still have a next one.',
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
