/** Through a scope alone are records reachable: it is the first part of every key, so a foreign id cannot be addressed. */
import { Refusal } from '../refusals.ts'

/** REST rights, each including those before it (spec "Authentication" 1). */
export const rightsInOrder = ['api:read', 'api:send', 'api:admin'] as const
export type Right = (typeof rightsInOrder)[number]

/** Who holds the access token or the session behind a scope. */
export type TokenHolder = { readonly kind: 'anonymous' } | { readonly kind: 'user'; readonly userId: string }

/** Who asks, for whom, and what they may do. */
export interface Scope {
  readonly organizationId: string
  /** The project that new resources belong to, and the only one reachable when `bound`. */
  readonly projectId: string
  /** The caller may not leave `projectId`. */
  readonly bound: boolean
  /** Projects that are being deleted: nothing of theirs is reachable. */
  readonly without?: ReadonlySet<string> | undefined
  readonly rights: readonly Right[]
  /** Id of the API key, SMTP credential, user or other grant behind this scope. */
  readonly grantId: string
  /** With an access token or a session only. */
  readonly holder?: TokenHolder
  /** A member whose role ends at resources of projects: what belongs to the whole organization can be read and not changed. */
  readonly projectsOnly?: true
  /** With a publishable key, which sends what its gates let pass and does nothing else: the id of its token. */
  readonly publishableToken?: string
  /** A signed-in owner of the organization. */
  readonly owns?: true
}

/** Throws `insufficient_scope` unless the scope includes the right. */
export function requireRight(scope: Scope, right: Right): void {
  const held = Math.max(...scope.rights.map((r) => rightsInOrder.indexOf(r)))
  if (held >= rightsInOrder.indexOf(right)) return
  throw new Refusal(
    'insufficient_scope',
    `This needs the scope ${right}; the ${scope.holder ? 'token' : 'key'} has ${scope.rights.join(' ') || 'none'}.`,
    {
      details: { required_scope: right },
    },
  )
}

/** Throws `insufficient_scope` unless the scope may change what belongs to the whole organization. */
export function requireAdministration(scope: Scope): void {
  requireRight(scope, 'api:admin')
  requireWholeOrganization(scope)
  requireOrganizationRole(scope)
}

/** Throws `insufficient_scope` for a member whose role ends at resources of projects. */
export function requireOrganizationRole({ projectsOnly }: Scope): void {
  if (projectsOnly) throw new Refusal('insufficient_scope', 'This belongs to the whole organization; ask one of its administrators.')
}

/** Throws `insufficient_scope` when the scope is bound to one project. */
export function requireWholeOrganization({ bound }: Scope): void {
  if (!bound) return
  const message = 'This belongs to the whole organization; use a key that is not bound to one project.'
  throw new Refusal('insufficient_scope', message, { nextAction: 'use_key_of_organization' })
}
