/** What a message would get now, without sending it. Spec "Routing rule". */
import { action, type Action } from '../../actions/action.ts'
import { simulation, simulationInput, toSimulationRequest } from '../../wire/routing/routing-simulation.ts'
import type { RestCore } from '../rest-core.ts'

export const routingSimulationActions = ({ simulate }: RestCore): readonly Action[] => [
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
    run: ({ principal }, { traceId, ...described }) =>
      traceId === undefined ? simulate.ofRequest(principal, toSimulationRequest(described)) : simulate.ofTrace(principal, traceId),
  }),
]
