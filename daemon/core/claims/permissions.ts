/** What somebody who takes over a sandbox lets its agent do from then on. Reading is always part of it. */
import { scopesUpTo, type OAuthScope } from '../oauth/protocol/scopes.ts'

export const permissions = ['send_sandbox', 'send_live', 'admin'] as const
export type Permission = (typeof permissions)[number]

/**
 * The scopes of what was chosen, on both surfaces. REST knows no sending into the sandbox alone: once there is a live destination,
 * `api:send` reaches real people, so it is part of live sending.
 */
export function scopesOfPermissions(chosen: readonly Permission[]): readonly OAuthScope[] {
  const level = Math.max(-1, ...chosen.map((permission) => permissions.indexOf(permission)))
  return [...scopesUpTo('mcp', level + 1), ...scopesUpTo('rest', Math.max(0, level))]
}
