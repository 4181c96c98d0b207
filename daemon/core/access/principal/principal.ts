/** Every access to records goes through a principal: its organization is the first part of every key, so foreign ids are out of reach. */
import { Refusal } from '../../refusals.ts'
import type { NoticeSettings } from '../notice-settings.ts'
import type { GrantedApplication, KeyCreator } from './key-creator.ts'
import { scopesInOrder, type Scope } from './scope.ts'

export { scopesInOrder, type Scope }

/** Who holds the access token or the session of a principal. */
export type TokenHolder = { readonly kind: 'anonymous' } | UserHolder

/** A signed-in user, or by an access token the application that they allowed. */
export interface UserHolder {
  readonly kind: 'user'
  readonly userId: string
  readonly application?: GrantedApplication
}

/** Who asks, for whom, and what they may do. */
export interface Principal {
  readonly organizationId: string
  /** The project that new resources belong to, and the only one reachable when `bound`. */
  readonly projectId: string
  /** The caller may not leave `projectId`. */
  readonly bound: boolean
  /** Projects that are being deleted: nothing of theirs is reachable. */
  readonly hiddenProjects?: ReadonlySet<string> | undefined
  readonly scopes: readonly Scope[]
  /** Id of the API key, SMTP credential, user or other grant of this principal. */
  readonly credentialId: string
  /** With an access token or a session only. */
  readonly holder?: TokenHolder
  /** A member whose role ends at resources of projects: what belongs to the whole organization can be read and not changed. */
  readonly projectsOnly?: true
  /** With a publishable key, which sends what its gates let pass and does nothing else: the id of its token. */
  readonly publishableToken?: string
  /** A signed-in owner of the organization. */
  readonly owns?: true
  /** With an API key only: who stands behind it, and behind what is created with it. */
  readonly minter?: (KeyCreator & { readonly keptAt?: number }) | undefined
  /** A send-only key: without any scope, it sends and reads the status of what it sent itself. */
  readonly sendsOnly?: true
  /** Of a send-only key. */
  readonly notices?: NoticeSettings
  /** A signed-in member of the role for billing: without any scope, it reads usage, invoices, plans and its organization. */
  readonly billsOnly?: true
  /** With an access token for agents only. */
  readonly agent?: AgentAccess
  /** The IP address that the request came from, where it came by HTTP. */
  readonly address?: string
}

/** How far a token for agents reaches. */
export interface AgentAccess {
  /** The place of its scope among those of agents, from 0 for `mcp:read`. */
  readonly level: number
  /** That of the most that its holder could be granted now. */
  readonly mostLevel: number
  /** Whatever it sends is captured. */
  readonly sandboxOnly: boolean
  /** Its user allowed tools for what belongs to the whole organization. */
  readonly reachesOrganization?: true | undefined
  /** The groups of tools that its user allowed; undefined for all. */
  readonly toolsets?: readonly string[] | undefined
}

/** Whether the principal has the scope, or one that includes it. */
export const hasScope = ({ scopes }: Pick<Principal, 'scopes'>, scope: Scope): boolean =>
  scopes.some((held) => scopesInOrder.indexOf(held) >= scopesInOrder.indexOf(scope))

/** Throws `insufficient_scope` unless the principal has the scope. */
export function requireScope(principal: Principal, scope: Scope): void {
  if (hasScope(principal, scope)) return
  throw new Refusal('insufficient_scope', `This requires the scope ${scope}; ${whatItHas(principal)}.`, {
    details: { required_scope: scope },
  })
}

function whatItHas({ holder, minter, sendsOnly, scopes }: Principal): string {
  if (sendsOnly) return 'this key is for sending only'
  const has = `the ${holder ? 'token' : 'key'} has ${scopes.join(' ') || 'none'}`
  return minter ? `${has}, limited to the role ${minter.role} of the member who created it` : has
}

/** Whether the principal may change what belongs to the whole organization. */
export const administersAll = (principal: Principal): boolean =>
  hasScope(principal, 'api:admin') && !principal.bound && !principal.projectsOnly
