/** Who makes a request, and whether they may: by the bearer secret in its head, as it is good at the moment. */
import type { IncomingHttpHeaders } from 'node:http'
import { requireRight, type Scope } from '#core/access/scope.ts'
import type { Authenticate } from './authentication.ts'
import type { Operation, PageKeys } from './operation.ts'

export interface AskedRequest {
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
}

/** Throws `unauthorized` and `insufficient_scope`. Cheap enough to be asked again: the checks answer from memory. */
export async function scopeOfAsker(
  { pageKeys, right, openToSendOnlyKeys }: Operation,
  { headers, remoteAddress }: AskedRequest,
  authenticate: Authenticate,
): Promise<Scope> {
  const key = pageKeys && pageKeyOf(pageKeys, headers)
  const ofPage = pageKeys && key !== undefined
  const scope = await (ofPage ? pageKeys.authenticate(key, headers.origin) : authenticate(headers, remoteAddress))
  if (right !== 'none' && right !== 'operator' && !(scope.sendsOnly && openToSendOnlyKeys)) requireRight(scope, right)
  return scope
}

/** Whatever stands behind the prefix: that it is no key is for those to say who know keys. */
export function pageKeyOf({ prefix }: PageKeys, { authorization = '' }: IncomingHttpHeaders): string | undefined {
  if (!/^bearer +/i.test(authorization)) return undefined
  const key = authorization.replace(/^bearer +/i, '').trimEnd()
  return key.startsWith(prefix) ? key : undefined
}
