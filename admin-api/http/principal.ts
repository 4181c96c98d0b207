/** Who makes a request, and whether they may: by the credential that it carries, as it is good at the moment. */
import type { Principal } from '#core/access/principal/principal.ts'
import { Refusal } from '#core/refusals.ts'
import type { Authenticate } from '../credentials/authentication.ts'
import { carriesBearer, type Credential, type CredentialRequest } from '../credentials/credentials.ts'
import { requireAccess } from '../operation/access.ts'
import type { Operation } from '../operation/operation.ts'

/** The first credential of the operation that the request carries; undefined for bearer tokens, and where there is none. */
export function presentedCredential({ credentials = [] }: Operation, request: CredentialRequest): Credential | undefined {
  const first = credentials.find((each) => (each === 'bearer' ? carriesBearer(request) : each.secretOf(request) !== undefined))
  return first === 'bearer' ? undefined : first
}

/** Throws `unauthorized` and `insufficient_scope`. Cheap enough to be asked again: the checks answer from memory. */
export async function principalOf(operation: Operation, request: CredentialRequest, authenticate: Authenticate): Promise<Principal> {
  const principal = await identify(operation, request, authenticate)
  requireAccess(principal, operation)
  return principal
}

async function identify(operation: Operation, request: CredentialRequest, authenticate: Authenticate): Promise<Principal> {
  const credential = presentedCredential(operation, request)
  const secret = credential?.secretOf(request)
  if (credential && secret !== undefined) return credential.authenticate(secret, request)
  const { credentials: [first] = ['bearer'] } = operation
  if (first === undefined || first === 'bearer' || operation.credentials?.includes('bearer'))
    return authenticate(request.headers, request.remoteAddress)
  throw new Refusal('unauthorized', first.hint)
}
