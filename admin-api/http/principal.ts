/** Who makes a request, and whether they may: by the credential that it carries, as it is good at the moment. */
import type { Principal } from '#core/access/principal/principal.ts'
import { Refusal } from '#core/refusals.ts'
import type { Authenticate } from '../credentials/authentication.ts'
import { carriesBearer, type Credential, type CredentialRequest } from '../credentials/credentials.ts'
import { requireAccess } from '../operation/access.ts'
import type { Operation } from '../operation/operation.ts'

/** What proves who makes a request. */
export interface Presented {
  readonly credential: Credential
  readonly secret: string
}

/** The first credential of the operation that the request carries; undefined for bearer tokens, and where there is none. */
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

/** Throws `unauthorized` and `insufficient_scope`. Cheap enough to be asked again: the checks answer from memory. */
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
