/** The test and the health of a destination. Spec "Destinations, routing, projects". */
import type { Action } from '../../actions/action.ts'
import { destinationHealth, destinationTest } from '../../wire/routing/destination-health.ts'
import type { RestCore } from '../rest-core.ts'
import { destinationResource } from './destinations.ts'

export const destinationHealthActions = ({ probes }: RestCore): readonly Action[] => [
  destinationResource.act('test', {
    summary: 'Test a destination',
    description:
      'Connects and signs in without sending a message, also in sandbox mode, and returns each step with its outcome. When all steps succeed, mail that waits behind an open circuit ' +
      'breaker is attempted immediately. Simultaneous tests of one destination share a connection.',
    errors: ['not_found'],
    output: destinationTest,
    run: ({ principal }, { id }) => probes.test(principal, id),
  }),
  destinationResource.readOf('health', {
    summary: 'Get the health of a destination',
    description:
      'Reachability, TLS and sign-in, from a probe that is at most a minute old and can take up to 20 seconds; the state of the circuit ' +
      'breaker; and the figures of the last hour. The figures are kept in memory and start over when the service restarts.',
    output: destinationHealth,
    run: ({ principal }, { id }) => probes.health(principal, id),
  }),
]
