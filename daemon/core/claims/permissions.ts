/** Permissions that the new owner of a sandbox gives its agent. Reading is always included. */
import { scopesUpTo, type OAuthScope } from '../oauth/protocol/scopes.ts'

export const permissions = ['send_sandbox', 'send_live', 'admin'] as const
export type Permission = (typeof permissions)[number]

/**
 * Returns the scopes of the chosen permissions on both surfaces. REST has no scope for sending only into the sandbox. `api:send` reaches
 * real people once a live destination exists, so it requires the permission to send live.
 */
export function scopesOfPermissions(chosen: readonly Permission[]): readonly OAuthScope[] {
  const level = Math.max(-1, ...chosen.map((permission) => permissions.indexOf(permission)))
  return [...scopesUpTo('mcp', level + 1), ...scopesUpTo('rest', Math.max(0, level))]
}
