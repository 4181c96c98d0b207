/** What a message would get now, without sending it. Spec "Routing rule". */
import { operation, type Operation } from '../operation.ts'
import { simulationBody, simulationShape, toSimulationRequest, toWireSimulation } from '../wire/routing-simulation.ts'
import type { RestCore } from './core.ts'

export const routingSimulationOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/routing/simulate',
    operationId: 'simulateRouting',
    summary: 'See which rule, destination and outcome a message would get now, and why',
    description:
      'Nothing is sent, counted or stored. The message is described by from, to and the like, or it is one that was accepted, by its trace_id: ' +
      'then the answer also tells what happened to it, and what would come out differently now.',
    tags: ['routing'],
    right: 'api:read',
    errors: ['not_found'],
    body: simulationBody,
    response: simulationShape,
    examples: { body: { from: 'shop@example.ch', to: 'ada@example.ch' } },
    async handle({ scope, body }) {
      if (body.trace_id === undefined) return toWireSimulation(await core.simulate.ofRequest(scope, toSimulationRequest(body)))
      const told = await core.simulate.ofTrace(scope, body.trace_id)
      return toWireSimulation(told, told)
    },
  }),
]
