/**
 * The principal that every access to records requires. Its organization is the first part of every record key, so that ids of other
 * organizations cannot be reached.
 */
import { Refusal } from '../../refusals.ts'
import type { NoticeSettings } from '../notice-settings.ts'
import type { GrantedApplication, KeyCreator } from './key-creator.ts'
import { scopesInOrder, type Scope } from './scope.ts'

export { scopesInOrder, type Scope }

/** Holder of the access token or session of a principal. */
export type TokenHolder = { readonly kind: 'anonymous' } | UserHolder

/** A signed-in user, or a user whose application acts with an access token. */
export interface UserHolder {
  readonly kind: 'user'
  readonly userId: string
  readonly application?: GrantedApplication
}

/** The caller of a request: identity, organization, projects and scopes. */
export interface Principal {
  readonly organizationId: string
  /** The project of new resources, and the only reachable project if `bound`. */
  readonly projectId: string
  /** Whether the caller can reach `projectId` only. */
  readonly bound: boolean
  /** Projects that are being deleted; their resources cannot be reached. */
  readonly hiddenProjects?: ReadonlySet<string> | undefined
  readonly scopes: readonly Scope[]
  /** Id of the API key, SMTP credential, user or other grant of this principal. */
  readonly credentialId: string
  /** Only with an access token or a session. */
  readonly holder?: TokenHolder
  /** A member with the role developer: can read resources of the whole organization but not change them. */
  readonly projectsOnly?: true
  /** Id of the token of a publishable key. Such a key can only send mail that passes its gates. */
  readonly publishableToken?: string
  /** A signed-in owner of the organization. */
  readonly owns?: true
  /** Only with an API key: the creator of the key. Records created with the key are attributed to the same creator. */
  readonly minter?: (KeyCreator & { readonly keptAt?: number }) | undefined
  /** A send-only key. It has no scopes, sends, and reads the status of messages that it sent. */
  readonly sendsOnly?: true
  /** Only with a send-only key. */
  readonly notices?: NoticeSettings
  /** A signed-in member with the role billing. It has no scopes and reads usage, invoices, plans and its organization. */
  readonly billsOnly?: true
  /** Only with an access token for agents. */
  readonly agent?: AgentAccess
  /** IP address of the client; only for requests by HTTP. */
  readonly address?: string
}

/** Limits of a token for agents. */
export interface AgentAccess {
  /** Index of its scope among the agent scopes; 0 is `mcp:read`. */
  readonly level: number
  /** Index of the highest agent scope that could be granted to its holder now. */
  readonly mostLevel: number
  /** All its messages are captured instead of delivered. */
  readonly sandboxOnly: boolean
  /** The user allowed tools that change the whole organization. */
  readonly reachesOrganization?: true | undefined
  /** Groups of tools that the user allowed; undefined allows all groups. */
  readonly toolsets?: readonly string[] | undefined
}

/** Returns whether the principal has the scope, or a scope that includes it. */
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

/** Returns whether the principal can change resources of the whole organization. */
export const administersAll = (principal: Principal): boolean =>
  hasScope(principal, 'api:admin') && !principal.bound && !principal.projectsOnly
