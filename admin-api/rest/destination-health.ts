/** The test and the health of a destination. Spec "Destinations, routing, projects". */
import { operation, type Operation } from '../operation.ts'
import { healthShape, testShape, toWireHealth, toWireTest } from '../wire/destination-health.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['destinations']

export const destinationHealthOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/destinations/{id}/test',
    operationId: 'testDestination',
    summary: 'Connect to a destination and sign in, without sending',
    description:
      'Shows each step with its outcome, in sandbox mode too. When all of them work, mail that waits behind an open circuit ' +
      'breaker is tried at once. Tests of the same destination at the same time share one connection.',
    tags,
    right: 'api:admin',
    errors: ['not_found'],
    params: idParams,
    response: testShape,
    handle: async ({ scope, params }) => toWireTest(await core.probes.test(scope, params.id)),
  }),
  operation({
    method: 'GET',
    path: '/v1/destinations/{id}/health',
    operationId: 'readDestinationHealth',
    summary: 'Read how a destination is',
    description:
      'Reachability, TLS and sign-in of a probe that is at most a minute old, which may take up to 20 seconds to make, the circuit ' +
      'breaker, and the figures of the last hour. The figures are kept in memory and begin anew with the service.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: healthShape,
    handle: async ({ scope, params }) => toWireHealth(await core.probes.health(scope, params.id)),
  }),
]
