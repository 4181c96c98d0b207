/** The challenge for callers without a valid token (RFC 6750 §3), with the metadata URL of RFC 9728 §5.1. */
import type { Refusal } from '#core/refusals.ts'

/** A resource that access tokens are valid for. */
export interface ProtectedResource {
  /** URL of its metadata. */
  readonly metadataUrl: string
  /** Scopes to request initially. */
  readonly usualScopes: readonly string[]
  /** All scopes; each scope includes the previous scopes. */
  readonly scopes: readonly string[]
}

/** Returns the header `WWW-Authenticate` of a refusal, or undefined. `isPresented`: whether the request contains a possible token. */
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
