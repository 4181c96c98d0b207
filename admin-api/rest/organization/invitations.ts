/** Invitations belong to the whole organization; keys of one project cannot manage them. */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { invitation, newInvitation, openedInvitation } from '../../wire/organization/member.ts'
import type { RestCore } from '../rest-core.ts'

const all = resource('/v1/invitations', { name: 'Invitation', tags: ['members'] })

export const invitationActions: readonly Action<RestCore>[] = [
  all.list({
    summary: 'List invitations, newest first',
    description: 'Expired invitations stay in the list until they are revoked or sent again.',
    errors: [],
    filter: {},
    item: invitation,
    run: ({ core, principal }, page) => core.invitations.list(principal, page),
  }),
  all.create({
    summary: 'Create an invitation',
    description:
      'Mails a link to the invited person. If the service sends no system mail, `mailed` is false and `accept_url` is the link ' +
      'to pass on. Anyone who signs in with this address can accept within 7 days.',
    errors: ['conflict', 'rate_limit_exceeded'],
    input: newInvitation,
    output: openedInvitation,
    examples: { input: { email: 'ada@example.org', role: 'developer' } },
    run: ({ core, principal }, given) => core.invitations.create(principal, given),
  }),
  all.act('resend', {
    summary: 'Send an invitation again',
    description:
      'Creates a new link that is valid for 7 days; the previous link stops working. The response has the same fields as the ' +
      'creation.',
    errors: ['not_found', 'rate_limit_exceeded'],
    output: openedInvitation,
    run: ({ core, principal }, { id }) => core.invitations.resend(principal, id),
  }),
  all.remove({
    id: 'revokeInvitation',
    summary: 'Revoke an invitation',
    errors: ['not_found'],
    run: ({ core, principal }, { id }) => core.invitations.revoke(principal, id),
  }),
]
