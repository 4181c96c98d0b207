/** What the scopes of applications mean, for people. */
import { surfaces, surfaceOf, type OAuthScope, type Surface } from '#core/oauth/protocol/scopes.ts'

interface ScopeWords {
  readonly label: string
  readonly meaning: string
}

const read: ScopeWords = { label: 'Read', meaning: 'Messages, their traces, captured mail and settings of the project.' }
const send: ScopeWords = { label: 'Send mail', meaning: 'Real mail to any recipient that the project allows.' }
const change: ScopeWords = { label: 'Change settings', meaning: 'Everything in the project: destinations, routing, keys, templates.' }

export const scopeWords: Readonly<Record<OAuthScope, ScopeWords>> = {
  'mcp:read': read,
  'mcp:send-sandbox': { label: 'Send test mail', meaning: 'It is captured and never leaves the service.' },
  'mcp:send': send,
  'mcp:admin': change,
  'api:read': read,
  'api:send': send,
  'api:admin': change,
}

export const surfaceWords: Readonly<Record<Surface, string>> = { mcp: 'As tools of an agent (MCP)', rest: 'Over the REST API' }

/** Such as `Read, Send mail (REST API)`, on one line. */
export const scopesInWords = (scopes: readonly OAuthScope[]): string =>
  surfaces
    .map((surface) => scopes.filter((scope) => surfaceOf(scope) === surface))
    .filter((some) => some.length > 0)
    .map(
      (some) =>
        `${some.map((scope) => scopeWords[scope].label.toLowerCase()).join(', ')} (${some[0]?.startsWith('mcp:') ? 'MCP' : 'REST'})`,
    )
    .join('; ')
