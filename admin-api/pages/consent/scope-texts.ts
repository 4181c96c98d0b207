/** Descriptions of the scopes of applications for people. */
import { surfaces, surfaceOf, type OAuthScope } from '#core/oauth/protocol/scopes.ts'
import type { PageTexts } from '../texts/texts-for.ts'

const kinds = {
  'mcp:read': 'read',
  'mcp:send-sandbox': 'test',
  'mcp:send': 'send',
  'mcp:admin': 'change',
  'api:read': 'read',
  'api:send': 'send',
  'api:admin': 'change',
} as const satisfies Readonly<Record<OAuthScope, keyof PageTexts['consent']>>

export const scopeTexts = ({ consent }: PageTexts, scope: OAuthScope): { readonly label: string; readonly meaning: string } =>
  consent[kinds[scope]]

/** Returns scopes on one line, such as `Read, Send mail (REST API)`. */
export const scopesText = (scopes: readonly OAuthScope[], texts: PageTexts): string =>
  surfaces
    .map((surface) => scopes.filter((scope) => surfaceOf(scope) === surface))
    .filter((some) => some.length > 0)
    .map(
      (some) =>
        `${some.map((scope) => scopeTexts(texts, scope).label.toLowerCase()).join(', ')} (${some[0]?.startsWith('mcp:') ? 'MCP' : 'REST'})`,
    )
    .join('; ')
