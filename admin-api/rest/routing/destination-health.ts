/** The test and the health of a destination. Spec "Destinations, routing, projects". */
import * as z from 'zod'
import { action, type Action } from '../../actions/action.ts'
import { pageEncoder, pageFields, project } from '../../wire/fields/paging.ts'
import { destinationHealth, destinationTest, knownHealth } from '../../wire/routing/destination-health.ts'
import type { RestCore } from '../rest-core.ts'
import { evidence, evidenceInput, keptEvidence } from '../../wire/routing/destination-evidence.ts'
import { destinationResource } from './destinations.ts'

/** Reads stored state without contacting providers, so that a screen can poll it. */
const allOfThem: Action<RestCore> = action({
  id: 'listDestinationHealth',
  summary: 'List the health of destinations, without a probe',
  description:
    'In the order of the list of destinations, with the same pages: the state of the circuit breaker, and the statistics of the ' +
    'last hour. They exist only in memory and restart at zero with the service.',
  tags: ['destinations'],
  scope: 'api:read',
  errors: ['not_found'],
  input: z.strictObject({ ...pageFields, project }),
  output: pageEncoder(knownHealth),
  http: { method: 'GET', path: '/v1/destinations/health' },
  run: ({ core, principal }, { project: projectId, ...page }) => core.probes.known(principal, { ...page, projectId }),
})

export const destinationHealthActions: readonly Action<RestCore>[] = [
  destinationResource.act('test', {
    summary: 'Test a destination',
    description:
      'Connects and signs in without sending a message, also in sandbox mode, and returns each step with its outcome. If all ' +
      'steps succeed, mail delayed by an open circuit breaker is attempted immediately. Simultaneous tests of one destination ' +
      'share a connection.',
    errors: ['not_found'],
    output: destinationTest,
    tool: {
      name: 'email_provider_test',
      toolset: 'setup',
      description:
        'Connect to a provider and sign in, without sending, and report each step. Use it after email_provider_connect or after ' +
        'a bad email_provider_health. Success lets waiting mail leave at once. Next: email_send_test.',
      arguments: { destination_id: 'id' },
      untrusted: ['detail', 'reply', 'certificate_names'],
      hints: { idempotent: true, openWorld: true },
    },
    run: ({ core, principal }, { id }) => core.probes.test(principal, id),
  }),
  destinationResource.readOf('health', {
    summary: 'Get the health of a destination',
    description:
      'Reachability, TLS and sign-in, from a probe that is at most a minute old and can take up to 20 seconds; the state of the ' +
      'circuit breaker; and the statistics of the last hour. The statistics exist only in memory and restart at zero with the ' +
      'service.',
    output: destinationHealth,
    tool: {
      name: 'email_provider_health',
      toolset: 'setup',
      description:
        'Get reachability, TLS, sign-in and the last hour of errors and latency of a provider, from a probe at most a minute ' +
        'old. To check again now use email_provider_test.',
      arguments: { destination_id: 'id' },
      untrusted: ['detail', 'reason', 'error.message'],
      hints: { openWorld: true },
    },
    run: ({ core, principal }, { id }) => core.probes.health(principal, id),
  }),
  allOfThem,
  destinationResource.act('evidence', {
    id: 'collectDestinationEvidence',
    summary: 'Collect the evidence for a promotion',
    description:
      'Probes the destination, compares SPF, DKIM and DMARC of the sending domains with the requirements of its provider, and ' +
      'decides about its latest captured messages as if it were live. The result is stored with the destination until the next ' +
      'collection. Does not change the mode, and sends only the test requested by `send_test`.',
    errors: [
      ...(['not_found', 'conflict', 'feature_disabled', 'approval_required'] as const),
      ...(['quota_exceeded', 'quota_exhausted', 'project_budget_exhausted', 'storage_full'] as const),
    ],
    input: evidenceInput,
    output: evidence,
    http: { emptyBody: {} },
    run: ({ core, principal }, { id, ...asked }) => core.promotions.collect(principal, id, asked),
  }),
  destinationResource.readOf('evidence', {
    summary: 'Get the latest evidence',
    description: '`evidence` is null before the first collection.',
    output: keptEvidence,
    run: ({ core, principal }, { id }) => core.promotions.evidence(principal, id),
  }),
]
