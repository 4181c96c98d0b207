/** Creator of a key. The creator's role limits the key, and the key ends when the creator's membership ends. */
import * as z from 'zod'
import { lowerRole, roles, scopesOfRole, type Role } from './role.ts'
import { scopesInOrder, type Scope } from './scope.ts'

/** The OAuth grant of the application that acts for a member. */
export interface GrantedApplication {
  readonly grantId: string
  readonly clientId: string
  readonly clientName: string
}

export interface KeyCreator {
  readonly userId: string
  /** Role of the creator when the key was created. A later, higher role does not extend the key. */
  readonly role: Role
  /** The application that created the key for the member; the key ends with the grant. */
  readonly application: GrantedApplication | null
}

export const keyCreatorSchema = z.strictObject({
  userId: z.string(),
  role: z.enum(roles),
  application: z.strictObject({ grantId: z.string(), clientId: z.string(), clientName: z.string() }).nullable(),
})

/** The fields of a key that limit its lifetime and its access. */
export interface KeyOrigin {
  /** If absent, the key belongs to the organization itself, like its first key. */
  readonly minter?: KeyCreator | undefined
  /** Time when an administrator kept the key. It no longer follows its creator, and `minter.role` remains its ceiling. */
  readonly keptAt?: number | undefined
}

/** Returns the role that limits a key. Returns `none` for a key without limit, and `ended` if the creator is no longer a member. */
export function ceilingOf({ minter, keptAt }: KeyOrigin, roleNow: Role | undefined): Role | 'none' | 'ended' {
  if (!minter) return 'none'
  if (keptAt !== undefined) return minter.role
  return roleNow === undefined ? 'ended' : lowerRole(minter.role, roleNow)
}

/** Whether the key ends when its creator is removed. */
export const followsCreator = ({ minter, keptAt }: KeyOrigin): boolean => minter !== undefined && keptAt === undefined

/**
 * Returns whether the key ends no later than the authority of the holder. The authority ends with the member and, for an application, with
 * that application. An authority of the organization itself never ends.
 */
export function endsAlongWith(key: KeyOrigin, holder: KeyOrigin): boolean {
  if (!holder.minter || !followsCreator(holder)) return true
  if (!key.minter || !followsCreator(key)) return false
  const { userId, application } = holder.minter
  return key.minter.userId === userId && (application === null || key.minter.application?.clientId === application.clientId)
}

const levelOf = (scopes: readonly Scope[]): number => Math.max(-1, ...scopes.map((scope) => scopesInOrder.indexOf(scope)))

/** Returns the scopes that the ceiling allows. */
export function scopesUnder(ceiling: Role | 'none', scopes: readonly Scope[]): readonly Scope[] {
  if (ceiling === 'none') return scopes
  const { scopes: most } = scopesOfRole(ceiling)
  return levelOf(scopes) <= levelOf(most) ? scopes : most
}

/** Whether the ceiling excludes resources of the whole organization. */
export const endsAtProjects = (ceiling: Role | 'none' | 'ended'): boolean =>
  ceiling === 'ended' || (ceiling !== 'none' && !scopesOfRole(ceiling).administersOrganization)
