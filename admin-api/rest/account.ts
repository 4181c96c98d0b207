/** The account behind a session of an agent. Spec "Agent session claim". */
import { operation, type Operation } from '../operation.ts'
import { claimBody, startedClaimShape, toWireStartedClaim } from '../wire/claim.ts'
import type { RestCore } from './core.ts'

export const accountOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/account/claim',
    operationId: 'claimAccount',
    summary: 'Ask somebody to take over the sandbox of this session',
    description:
      'For the tokens of an anonymous sandbox; elsewhere it does nothing. The answer is the same whether the address is known or not. Read ' +
      '`claim_progress` of the project to see when it is claimed. At most 3 an hour for each session, and 5 a day for each address.',
    tags: ['account'],
    right: 'api:read',
    errors: ['conflict', 'rate_limit_exceeded'],
    body: claimBody,
    response: startedClaimShape,
    examples: { body: { email: 'ada@example.ch' } },
    handle: async ({ scope, body }) => toWireStartedClaim(await core.claims.start(scope, body.email)),
  }),
]
