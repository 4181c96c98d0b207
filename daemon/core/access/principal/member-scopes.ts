/** What people may do in an organization, as access asks for it at every call. */
import type { Role } from './role.ts'
import type { Scope } from './principal.ts'

/** What the role of a member allows. */
export interface MemberScopes {
  readonly role: Role
  readonly scopes: readonly Scope[]
  /** May change what belongs to the whole organization, as far as the scopes go. */
  readonly administersOrganization: boolean
}

/**
 * The scopes of a member's role, or undefined when the user is no member (any more). Asked for every request with a token of
 * that user, so that a demotion acts at once: whoever implements it answers from memory.
 */
export type ScopesOfMember = (organizationId: string, userId: string) => Promise<MemberScopes | undefined>
