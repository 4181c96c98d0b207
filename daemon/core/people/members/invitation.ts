/** Record of an invitation: an address that can become a member within a week. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { actorKinds } from '../../writes/audit.ts'
import { roles } from '../../access/principal/role.ts'

const schema = z.strictObject({
  id: z.string(),
  organizationId: z.string(),
  /** Folded to lower case. */
  email: z.string(),
  role: z.enum(roles),
  /** SHA-256 of the secret in the latest link. */
  sha256: z.string(),
  invitedBy: z.strictObject({ kind: z.enum(actorKinds), id: z.string() }),
  createdAt: z.int(),
  expiresAt: z.int(),
})

/** Deleted on acceptance and on revocation. */
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
