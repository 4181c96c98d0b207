/** Authenticates the caller of a request by its credential, in its state at that moment, and checks the scope. */
import type { Principal } from '#core/access/principal/principal.ts'
import { Refusal } from '#core/refusals.ts'
import type { Authenticate } from '../credentials/authentication.ts'
import { carriesBearer, type Credential, type CredentialRequest } from '../credentials/credentials.ts'
import { requireAccess } from '../operation/access.ts'
import type { Operation } from '../operation/operation.ts'

/** The credential of a request, with its secret. */
export interface Presented {
  readonly credential: Credential
  readonly secret: string
}

/** Returns the first credential of the operation that the request contains; undefined for bearer tokens, and without a credential. */
export function presentedCredential({ credentials = [] }: Operation, request: CredentialRequest): Presented | undefined {
  for (const credential of credentials) {
    if (credential === 'bearer') {
      if (carriesBearer(request)) return undefined
      continue
    }
    const secret = credential.secretOf(request)
    if (secret !== undefined) return { credential, secret }
  }
  return undefined
}

/** Throws `unauthorized` and `insufficient_scope`. Cheap enough for repeated calls: the checks use memory. */
export async function principalOf(
  operation: Operation,
  request: CredentialRequest,
  presented: Presented | undefined,
  { authenticate, core }: { readonly authenticate: Authenticate; readonly core: unknown },
): Promise<Principal> {
  const principal = await identify(operation, request, presented, { authenticate, core })
  requireAccess(principal, operation)
  return principal
}

async function identify(
  { credentials: [first] = ['bearer'], credentials }: Operation,
  request: CredentialRequest,
  presented: Presented | undefined,
  { authenticate, core }: { readonly authenticate: Authenticate; readonly core: unknown },
): Promise<Principal> {
  if (presented) return presented.credential.authenticate(presented.secret, request, core)
  if (first === undefined || first === 'bearer' || credentials?.includes('bearer'))
    return authenticate(request.headers, request.remoteAddress)
  throw new Refusal('unauthorized', first.hint)
}
