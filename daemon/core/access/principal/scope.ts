/** REST rights, each including those before it (spec "Authentication" 1). */
export const rightsInOrder = ['api:read', 'api:send', 'api:admin'] as const
export type Right = (typeof rightsInOrder)[number]
