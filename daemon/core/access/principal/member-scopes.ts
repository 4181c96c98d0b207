/** Scopes of organization members, which access checks on every call. */
import type { Role } from './role.ts'
import type { Scope } from './principal.ts'

/** Permissions of a member's role. */
export interface MemberScopes {
  readonly role: Role
  readonly scopes: readonly Scope[]
  /** Whether the scopes also cover resources of the whole organization. */
  readonly administersOrganization: boolean
}

/**
 * Returns the scopes of a member's role, or undefined if the user is not a member. Every request with a token of the user calls this, so
 * that a demotion takes effect immediately. Implementations must answer from memory.
 */
export type ScopesOfMember = (organizationId: string, userId: string) => Promise<MemberScopes | undefined>
