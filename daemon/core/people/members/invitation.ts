/** Invitations: an address that may become a member, for a week. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { actorKinds } from '../../writes/audit.ts'
import { roles } from '../../access/principal/role.ts'

const schema = z.strictObject({
  id: z.string(),
  organizationId: z.string(),
  /** Folded. */
  email: z.string(),
  role: z.enum(roles),
  /** The SHA-256 of the secret in the link of the last mail. */
  sha256: z.string(),
  invitedBy: z.strictObject({ kind: z.enum(actorKinds), id: z.string() }),
  createdAt: z.int(),
  expiresAt: z.int(),
})

/** Gone once accepted or revoked. */
export type Invitation = Immutable<z.infer<typeof schema>>

export const invitations = defineRecord<Invitation>({
  name: 'invitation',
  schema,
  lookups: {
    sha256: ({ sha256 }) => [[sha256]],
    // one for each address and organization
    email: ({ email, organizationId }) => [[email, organizationId]],
  },
})
