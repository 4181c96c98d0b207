/** The account behind a session of an agent, the sandboxes that wait for one, and the mails of a person. Spec "Agent session claim". */
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
    run: ({ core, principal }, { email }) => core.claims.start(principal, email),
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
    run: ({ core, principal }) => core.claims.openOf(principal),
  }),
]

const mailing: readonly Action<RestCore>[] = [
  action({
    id: 'getMailChoices',
    summary: 'Get which mails of the service the signed-in person wants',
    description: 'Sign-in links, invitations and news about the account always come; notifications of a form are set in the form.',
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
    summary: 'Choose which mails of the service the signed-in person gets',
    description: 'Fields that are left out keep their values. Without effect for API keys and applications.',
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
