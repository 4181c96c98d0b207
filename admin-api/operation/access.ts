/** Access to an operation: by its scope, or for a role that may call it without the scope. */
import { requireScope, type Principal } from '#core/access/principal/principal.ts'
import { isUnscoped, type Access, type OperationFacts } from './operation.ts'

type Open = Pick<OperationFacts, 'openToSendOnlyKeys' | 'openToBilling'> & { readonly scope: Access }

/** Throws `insufficient_scope`. */
export function requireAccess(principal: Principal, { scope, openToSendOnlyKeys, openToBilling }: Open): void {
  if (isUnscoped(scope)) return
  if ((principal.sendsOnly && openToSendOnlyKeys) || (principal.billsOnly && openToBilling)) return
  requireScope(principal, scope)
}
