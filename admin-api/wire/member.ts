/** Members and invitations on the wire. */
import * as z from 'zod'
import type { Invitation } from '#core/people/invitation.ts'
import type { OpenedInvitation } from '#core/people/invitations.ts'
import type { Person } from '#core/people/members.ts'
import { roles } from '#core/access/role.ts'
import { toWireTime, wireTime } from './time.ts'

const role = z.enum(roles).meta({
  description:
    'owner: everything; admin: all but making owners; developer: resources of projects; viewer: reads; billing: usage and invoices.',
})

export const memberShape = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string().meta({ description: 'Empty until the user gives one.' }),
    role,
    joined_at: wireTime,
    last_signed_in_at: wireTime.nullable(),
  })
  .meta({ id: 'Member' })

export const roleBody = z.strictObject({ role })

export const invitationShape = z
  .object({
    id: z.string(),
    email: z.string(),
    role,
    status: z.enum(['open', 'expired']),
    created_at: wireTime,
    expires_at: wireTime,
  })
  .meta({ id: 'Invitation' })

export const openedInvitationShape = invitationShape
  .extend({
    mailed: z.boolean().meta({ description: 'Whether a mail with the link leaves; false where the service sends no mail of its own.' }),
    accept_url: z.string().nullable().meta({
      description: 'The link to hand over to the invited person, shown this once; null where it is mailed. Whoever has it can join.',
    }),
  })
  .meta({ id: 'OpenedInvitation' })

export const newInvitationBody = z.strictObject({
  email: z.string().min(1).max(254).meta({ description: 'Whoever signs in with this address can accept.' }),
  role,
})

export const toWireMember = ({ user, member }: Person): z.input<typeof memberShape> => ({
  user_id: user.id,
  email: user.email,
  name: user.name,
  role: member.role,
  joined_at: toWireTime(member.joinedAt),
  last_signed_in_at: user.signedInAt === null ? null : toWireTime(user.signedInAt),
})

export const toWireInvitation = (invitation: Invitation, nowMs: number): z.input<typeof invitationShape> => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  status: invitation.expiresAt > nowMs ? 'open' : 'expired',
  created_at: toWireTime(invitation.createdAt),
  expires_at: toWireTime(invitation.expiresAt),
})

export const toWireOpenedInvitation = (opened: OpenedInvitation, nowMs: number): z.input<typeof openedInvitationShape> => ({
  ...toWireInvitation(opened, nowMs),
  mailed: opened.link === undefined,
  accept_url: opened.link ?? null,
})
