/** REST scopes, each including those before it (spec "Authentication" 1). */
export const scopesInOrder = ['api:read', 'api:send', 'api:admin'] as const
export type Scope = (typeof scopesInOrder)[number]
