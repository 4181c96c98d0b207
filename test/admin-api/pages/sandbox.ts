/** A sandbox for page tests, whose agent requests a claim. */
import type { Principal } from '#core/access/principal/principal.ts'
import type { PageServer } from './page-server.ts'

/** Returns the code of the claim and the organization of the sandbox. */
export async function askedBy(server: PageServer, email: string): Promise<{ readonly organizationId: string; readonly code: string }> {
  const { organizationId, grant } = await server.sandboxes.make(['mcp:read', 'api:read'], 'rest', '192.0.2.1')
  const holder = { kind: 'anonymous' } as const
  const principal: Principal = {
    organizationId,
    projectId: grant.projectId,
    bound: true,
    scopes: ['api:read'],
    credentialId: grant.id,
    holder,
  }
  const { open } = await server.claims.start(principal, email)
  return { organizationId, code: open?.userCode ?? '' }
}
