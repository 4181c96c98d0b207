/** How a caller without a good token can get one: the challenge of RFC 6750 §3, with the pointer of RFC 9728 §5.1. */
import type { Refusal } from '#core/refusals.ts'

/** What tokens are for here. */
export interface ProtectedResource {
  /** Where its metadata is. */
  readonly metadataUrl: string
  /** Scopes to ask for to begin with. */
  readonly usualScopes: readonly string[]
  /** All scopes, each including those before it. */
  readonly scopes: readonly string[]
}

/** The header `WWW-Authenticate` of a refusal; undefined for refusals without one. `isPresented`: it has what could be a token. */
export function challenge(refusal: Refusal, resource: ProtectedResource | undefined, isPresented: boolean): string | undefined {
  if (refusal.code === 'unauthorized') {
    if (!resource) return 'Bearer'
    const usual = `Bearer resource_metadata="${resource.metadataUrl}", scope="${resource.usualScopes.join(' ')}"`
    return isPresented ? `${usual}, error="invalid_token"` : usual
  }
  if (refusal.code === 'invalid_key' || refusal.code === 'key_kind_mismatch') return 'Bearer error="invalid_token"'
  if (refusal.code !== 'insufficient_scope' || !resource) return undefined
  const needed = resource.scopes.findIndex((scope) => scope === refusal.details?.['required_scope'])
  if (needed < 0) return undefined
  const scopes = resource.scopes.slice(0, needed + 1).join(' ')
  return `Bearer error="insufficient_scope", scope="${scopes}", resource_metadata="${resource.metadataUrl}"`
}
