/** REST scopes in ascending order; each scope includes the preceding scopes (spec "Authentication" 1). */
export const scopesInOrder = ['api:read', 'api:send', 'api:admin'] as const
export type Scope = (typeof scopesInOrder)[number]
