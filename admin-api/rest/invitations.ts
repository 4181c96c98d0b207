/** Invitations to the organization. They belong to the whole of it, so keys of one project have no say. */
import * as z from 'zod'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { invitationShape, newInvitationBody, openedInvitationShape, toWireInvitation, toWireOpenedInvitation } from '../wire/member.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['members']

export const invitationOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/invitations',
    operationId: 'listInvitations',
    summary: 'List invitations, the newest first',
    description: 'Those that are too old stay listed until they are revoked or made again.',
    tags,
    right: 'api:read',
    query: z.strictObject({ limit: pagingFields.limit, cursor: pagingFields.cursor }),
    response: pageOf(invitationShape),
    async handle({ scope, query }) {
      const page = await core.invitations.list(scope, query)
      return { data: page.rows.map((one) => toWireInvitation(one, core.clock.now())), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/invitations',
    operationId: 'createInvitation',
    summary: 'Invite somebody',
    description:
      'A link is mailed. Where the service sends no mail of its own, mailed is false and accept_url is the link to hand over. ' +
      'Whoever signs in with this address can accept within 7 days.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['conflict', 'rate_limit_exceeded'],
    body: newInvitationBody,
    response: openedInvitationShape,
    examples: { body: { email: 'ada@example.org', role: 'developer' } },
    handle: async ({ scope, body }) => toWireOpenedInvitation(await core.invitations.create(scope, body), core.clock.now()),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/invitations/{id}',
    operationId: 'revokeInvitation',
    summary: 'Take an invitation back',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['not_found'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.invitations.revoke(scope, params.id),
  }),
]
