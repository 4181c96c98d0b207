/** Names of all screens, to check links without loading the code of the screens. `screens.ts` loads the code. */
const screenNames: ReadonlySet<string> = new Set([
  ...['', 'insights', 'traces', 'captures', 'destinations', 'domains'],
  ...['suppressions', 'keys', 'webhooks', 'docs', 'members', 'projects', 'agents', 'queue'],
  ...['routing', 'scheduled', 'replays', 'inspect', 'bounce-sources', 'templates', 'forms', 'operator', 'orgs', 'usage'],
  ...['audit', 'profile', 'websites', 'moving-in', 'inbound-routes', 'findings', 'settings'],
])

export const screenAt = (path: string): boolean => screenNames.has(path.split('/')[1] ?? '')
