/** Members and invitations on the wire. */
import * as z from 'zod'
import { roles } from '#core/access/principal/role.ts'
import type { Timed } from '#core/clock.ts'
import type { Invitation } from '#core/people/members/invitation.ts'
import type { OpenedInvitation } from '#core/people/members/invitations.ts'
import type { Member } from '#core/people/members/member.ts'
import type { Person } from '#core/people/members/members.ts'
import type { User } from '#core/people/users/user.ts'
import { encoder } from '../fields/codec.ts'
import { pageEncoder } from '../fields/paging.ts'
import { orNull, wireTime } from '../fields/time.ts'

const role = z.enum(roles).meta({
  description:
    'owner: everything; admin: everything except making owners; developer: resources of projects; viewer: read access; billing: usage and invoices.',
})

const memberShape = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string().meta({ description: 'Empty until the user enters one.' }),
    role,
    joined_at: wireTime,
    last_signed_in_at: wireTime.nullable(),
    has_passkey: z.boolean(),
  })
  .meta({ id: 'Member' })

export const roleChoice = z.strictObject({ role })

const invitationShape = z
  .object({
    id: z.string(),
    email: z.string(),
    role,
    status: z.enum(['open', 'expired']),
    created_at: wireTime,
    expires_at: wireTime,
  })
  .meta({ id: 'Invitation' })

const openedInvitationShape = invitationShape
  .extend({
    mailed: z.boolean().meta({ description: 'Whether the service mails the link; false if the service sends no system mail.' }),
    accept_url: z.string().nullable().meta({
      description: 'The link for the invited person; shown only once, null if the service mails it. Anyone with the link can join.',
    }),
  })
  .meta({ id: 'OpenedInvitation' })

export const newInvitation = z.strictObject({
  email: z.string().min(1).max(254).meta({ description: 'Anyone who signs in with this address can accept.' }),
  role,
})

export const member = encoder(memberShape)
  .from<Member & User & Pick<Person, 'hasPasskey'>>({ user_id: ({ id }) => id, last_signed_in_at: ({ signedInAt }) => orNull(signedInAt) })
  .via((person: Person) => ({ ...person.user, ...person.member, hasPasskey: person.hasPasskey }))

export const allMembers = pageEncoder(member).via((people: Person[]) => ({ rows: people, nextCursor: undefined }))

const code = {
  status: ({ expiresAt }: Invitation, { clock }: Timed) => (expiresAt > clock.now() ? ('open' as const) : ('expired' as const)),
}

export const invitation = encoder(invitationShape).from<Invitation, Timed>(code)
export const openedInvitation = encoder(openedInvitationShape).from<OpenedInvitation, Timed>({
  ...code,
  mailed: ({ link }) => link === undefined,
  accept_url: ({ link }) => link ?? null,
})
