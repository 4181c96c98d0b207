/** Invitations: an address that may become a member, for a week. */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import { actorKinds, type Actor } from '../../audit.ts'
import { roles, type Role } from '../../access/scope/role.ts'

/** Gone once accepted or revoked. */
export interface Invitation {
  readonly id: string
  readonly organizationId: string
  /** Folded. */
  readonly email: string
  readonly role: Role
  /** The SHA-256 of the secret in the link of the last mail. */
  readonly sha256: string
  readonly invitedBy: Actor
  readonly createdAt: number
  readonly expiresAt: number
}

export const invitations = defineRecord<Invitation>({
  name: 'invitation',
  schema: z.strictObject({
    id: z.string(),
    organizationId: z.string(),
    email: z.string(),
    role: z.enum(roles),
    sha256: z.string(),
    invitedBy: z.strictObject({ kind: z.enum(actorKinds), id: z.string() }),
    createdAt: z.int(),
    expiresAt: z.int(),
  }),
  lookups: {
    sha256: ({ sha256 }) => [[sha256]],
    // one for each address and organization
    email: ({ email, organizationId }) => [[email, organizationId]],
  },
})
