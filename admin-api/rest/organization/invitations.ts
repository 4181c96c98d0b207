/** Invitations to the organization. They belong to the whole of it, so keys of one project have no say. */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { invitationEncoder, newInvitation, openedInvitationEncoder } from '../../wire/organization/member.ts'
import type { RestCore } from '../rest-core.ts'

const all = resource('/v1/invitations', { name: 'Invitation', tags: ['members'] })

export const invitationActions = ({ invitations, clock }: RestCore): readonly Action[] => [
  all.list({
    summary: 'List invitations, newest first',
    description: 'Expired invitations stay in the list until they are revoked or sent again.',
    errors: [],
    filter: {},
    item: invitationEncoder(clock),
    run: ({ principal }, page) => invitations.list(principal, page),
  }),
  all.create({
    summary: 'Create an invitation',
    description:
      'Mails a link to the invited person. When the service sends no mail of its own, `mailed` is false and `accept_url` is the link to hand over. ' +
      'Any person who signs in with this address can accept within 7 days.',
    errors: ['conflict', 'rate_limit_exceeded'],
    input: newInvitation,
    output: openedInvitationEncoder(clock),
    examples: { input: { email: 'ada@example.org', role: 'developer' } },
    run: ({ principal }, invitation) => invitations.create(principal, invitation),
  }),
  all.act('resend', {
    summary: 'Send an invitation again',
    description: 'With a new link for another 7 days; the link before stops working. Answers as the creation does.',
    errors: ['not_found', 'rate_limit_exceeded'],
    output: openedInvitationEncoder(clock),
    run: ({ principal }, { id }) => invitations.resend(principal, id),
  }),
  all.remove({
    id: 'revokeInvitation',
    summary: 'Revoke an invitation',
    errors: ['not_found'],
    run: ({ principal }, { id }) => invitations.revoke(principal, id),
  }),
]
