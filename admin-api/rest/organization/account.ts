/** The account behind a session of an agent, and the sandboxes that wait for one. Spec "Agent session claim". */
import { action, type Action } from '../../actions/action.ts'
import { newClaim, openClaim, openClaims, startedClaim } from '../../wire/organization/claim.ts'
import { noInput } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

export const accountActions = ({ claims }: RestCore): readonly Action[] => [
  action({
    id: 'claimAccount',
    summary: 'Claim the sandbox project of this session',
    description:
      'Invites the owner of `email` to take over the project. Has no effect with any token other than that of an anonymous sandbox. The response is the same whether or not the address is known. Read ' +
      '`claim_progress` of the project to see when it is claimed. Limited to 3 requests per hour and session, and 5 per day and address.',
    tags: ['account'],
    scope: 'api:read',
    errors: ['conflict', 'rate_limit_exceeded'],
    input: newClaim,
    output: startedClaim,
    examples: { input: { email: 'ada@example.ch' } },
    http: { method: 'POST', path: '/v1/account/claim' },
    tool: {
      name: 'account_claim',
      toolset: 'account',
      description:
        'Invite the user to take over this anonymous project; no effect on one that is claimed. Ask the user for their address first. Sends them a mail with a ' +
        'link; show them user_code. Next: account_status until claim_progress.claimed is true, usually within 30 seconds.',
      hints: { readOnly: false, openWorld: true },
    },
    run: ({ principal }, { email }) => claims.start(principal, email),
  }),
  action({
    id: 'listClaims',
    summary: 'List the sandboxes that wait for the signed-in person',
    description:
      'Sandboxes whose agents asked for the address of who is signed in, in the last 30 minutes. Empty for API keys and applications. All of them on one page: ' +
      '`next_cursor` is always null.',
    tags: ['account'],
    scope: 'api:read',
    input: noInput,
    output: openClaims,
    list: { item: openClaim },
    http: { method: 'GET', path: '/v1/claims' },
    run: ({ principal }) => claims.openOf(principal),
  }),
]
