/** The account behind a session of an agent. Spec "Agent session claim". */
import { action, type Action } from '../actions/action.ts'
import { newClaim, startedClaim } from '../wire/claim.ts'
import type { RestCore } from './core.ts'

export const accountActions = ({ claims }: RestCore): readonly Action[] => [
  action({
    id: 'claimAccount',
    summary: 'Ask somebody to take over the sandbox of this session',
    description:
      'For the tokens of an anonymous sandbox; elsewhere it does nothing. The answer is the same whether the address is known or not. Read ' +
      '`claim_progress` of the project to see when it is claimed. At most 3 an hour for each session, and 5 a day for each address.',
    tags: ['account'],
    scope: 'api:read',
    errors: ['conflict', 'rate_limit_exceeded'],
    input: newClaim,
    output: startedClaim,
    examples: { input: { email: 'ada@example.ch' } },
    http: { method: 'POST', path: '/v1/account/claim' },
    run: ({ principal }, { email }) => claims.start(principal, email),
  }),
]
