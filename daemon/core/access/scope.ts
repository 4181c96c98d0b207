/** Through a scope alone are records reachable: it is the first part of every key, so a foreign id cannot be addressed. */
import { Refusal } from '../refusals.ts'

/** REST rights, each including those before it (spec "Authentication" 1). */
export const rightsInOrder = ['api:read', 'api:send', 'api:admin'] as const
export type Right = (typeof rightsInOrder)[number]

/** Who holds the access token behind a scope. */
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
  /** Id of the API key, SMTP credential or OAuth grant behind this scope. */
  readonly grantId: string
  /** With an access token only. */
  readonly holder?: TokenHolder
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
