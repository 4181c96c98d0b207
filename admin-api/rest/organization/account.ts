/** Claims of sandbox projects of agents, and the mail preferences of a person. Spec "Agent session claim". */
import { action, type Action } from '../../actions/action.ts'
import { newClaim, openClaim, openClaims, startedClaim } from '../../wire/organization/claim.ts'
import { mailChoice, mailChoiceChanges } from '../../wire/organization/mail-choice.ts'
import { noInput } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const claiming: readonly Action<RestCore>[] = [
  action({
    id: 'claimAccount',
    summary: 'Claim the sandbox project of this session',
    description:
      'Invites the owner of `email` to take over the project. Only the token of an anonymous sandbox has an effect. The response ' +
      'does not reveal whether the address has an account. Read `claim_progress` of the project to see when it is claimed. ' +
      'Limited to 3 requests per hour and session, and 5 per day and address.',
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
        'Invite the user to take over this anonymous project; no effect on a claimed project. Ask the user for their address ' +
        'first. Sends them a mail with a link; show them user_code. Next: account_status until claim_progress.claimed is true, ' +
        'usually within 30 seconds.',
      hints: { readOnly: false, openWorld: true },
    },
    run: ({ core, principal }, { email }) => core.claims.start(principal, email),
  }),
  action({
    id: 'listClaims',
    summary: 'List open claims for the signed-in person',
    description:
      'Sandbox projects whose agents named the address of the signed-in person in the last 30 minutes. Empty for API keys and ' +
      'applications. All claims are on one page: `next_cursor` is always null.',
    tags: ['account'],
    scope: 'api:read',
    input: noInput,
    output: openClaims,
    list: { item: openClaim },
    http: { method: 'GET', path: '/v1/claims' },
    run: ({ core, principal }) => core.claims.openOf(principal),
  }),
]

const mailing: readonly Action<RestCore>[] = [
  action({
    id: 'getMailChoices',
    summary: 'Get the mail preferences of the signed-in person',
    description: 'Sign-in links, invitations and news about the account are always sent; set notifications of a form in the form.',
    tags: ['account'],
    scope: 'api:read',
    openToBilling: true,
    input: noInput,
    output: mailChoice,
    http: { method: 'GET', path: '/v1/account/mail' },
    run: ({ core, principal }) => core.mailChoices.of(principal),
  }),
  action({
    id: 'updateMailChoices',
    summary: 'Update the mail preferences of the signed-in person',
    description: 'Omitted fields keep their values. No effect for API keys and applications.',
    tags: ['account'],
    scope: 'api:read',
    openToBilling: true,
    input: mailChoiceChanges,
    output: mailChoice,
    http: { method: 'PATCH', path: '/v1/account/mail' },
    run: ({ core, principal }, changes) => core.mailChoices.change(principal, changes),
  }),
]

export const accountActions: readonly Action<RestCore>[] = [...claiming, ...mailing]
