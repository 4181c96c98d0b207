/** On whose behalf a key was created: its ceiling while they are a member, and its end when they go. */
import * as z from 'zod'
import { lowerRole, roles, scopesOfRole, type Role } from './role.ts'
import { scopesInOrder, type Scope } from './scope.ts'

/** The OAuth grant by which a member's application acts. */
export interface GrantedApplication {
  readonly grantId: string
  readonly clientId: string
  readonly clientName: string
}

export interface KeyCreator {
  readonly userId: string
  /** The role that they had: no key of theirs ever reaches beyond it, whatever they become. */
  readonly role: Role
  /** The application that created it for them; it ends with the grant. */
  readonly application: GrantedApplication | null
}

export const keyCreatorSchema = z.strictObject({
  userId: z.string(),
  role: z.enum(roles),
  application: z.strictObject({ grantId: z.string(), clientId: z.string(), clientName: z.string() }).nullable(),
})

/** The part of a key that says how long it lasts and how far it reaches. */
export interface KeyOrigin {
  /** Absent: the organization itself stands behind the key, as behind its first one. */
  readonly minter?: KeyCreator | undefined
  /** An administrator kept the key: it no longer follows its creator, and keeps the role that was its ceiling. */
  readonly keptAt?: number | undefined
}

/** The role beyond which a key does not reach; `none` when nothing bounds it, `ended` when its creator is no member any more. */
export function ceilingOf({ minter, keptAt }: KeyOrigin, roleNow: Role | undefined): Role | 'none' | 'ended' {
  if (!minter) return 'none'
  if (keptAt !== undefined) return minter.role
  return roleNow === undefined ? 'ended' : lowerRole(minter.role, roleNow)
}

/** Whether a key is still tied to its creator. */
export const followsCreator = ({ minter, keptAt }: KeyOrigin): boolean => minter !== undefined && keptAt === undefined

/**
 * Whether the key ends at the latest with who holds the other one: the member and, for an application of theirs, that
 * application. What belongs to the organization itself has no end that a key could outlast.
 */
export function endsAlongWith(key: KeyOrigin, holder: KeyOrigin): boolean {
  if (!holder.minter || !followsCreator(holder)) return true
  if (!key.minter || !followsCreator(key)) return false
  const { userId, application } = holder.minter
  return key.minter.userId === userId && (application === null || key.minter.application?.clientId === application.clientId)
}

const levelOf = (scopes: readonly Scope[]): number => Math.max(-1, ...scopes.map((scope) => scopesInOrder.indexOf(scope)))

/** The scopes as far as the ceiling allows them. */
export function scopesUnder(ceiling: Role | 'none', scopes: readonly Scope[]): readonly Scope[] {
  if (ceiling === 'none') return scopes
  const { scopes: most } = scopesOfRole(ceiling)
  return levelOf(scopes) <= levelOf(most) ? scopes : most
}

/** Whether the ceiling ends at resources of projects. */
export const endsAtProjects = (ceiling: Role | 'none' | 'ended'): boolean =>
  ceiling === 'ended' || (ceiling !== 'none' && !scopesOfRole(ceiling).administersOrganization)
