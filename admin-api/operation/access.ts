/** Who may call an operation: by the scope that it needs, or as one of those whom it is open to without any. */
import { requireScope, type Principal } from '#core/access/principal/principal.ts'
import type { OperationFacts, Access } from './operation.ts'

type Open = Pick<OperationFacts, 'openToSendOnlyKeys' | 'openToBilling'> & { readonly scope: Access }

/** Throws `insufficient_scope`. */
export function requireAccess(principal: Principal, { scope, openToSendOnlyKeys, openToBilling }: Open): void {
  if (scope === 'none' || scope === 'operator') return
  if ((principal.sendsOnly && openToSendOnlyKeys) || (principal.billsOnly && openToBilling)) return
  requireScope(principal, scope)
}
