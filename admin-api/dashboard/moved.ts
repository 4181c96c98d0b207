/**
 * Former addresses of screens, with the current ones. Links in mails, bookmarks and alerts keep working: `mount.ts` redirects them, and the
 * client opens them without a page load. Entries are never deleted.
 */

/** Current paths by the former ones. A query in a former path is a condition, and the query of the address stays except for it. */
export const moved: readonly (readonly [before: string, now: string])[] = [
  ['/scheduled', '/queue/scheduled'],
  ['/replays', '/queue/replays'],
  ['/replays/{job_id}', '/queue/replays/{job_id}'],
  ['/queue/acts', '/queue/history'],
  ['/queue/acts/{id}', '/queue/history/{id}'],
  ['/destinations/{id}/promote', '/destinations/{id}/go-live'],
  ['/suppressions', '/recipients/suppressions'],
  ['/suppressions/unsubscribes', '/recipients/unsubscribes'],
  ['/inbound-routes', '/incoming/routes'],
  ['/inbound-routes/{id}', '/incoming/routes/{id}'],
  ['/inbound-routes/{id}/{message_id}', '/incoming/routes/{id}/{message_id}'],
  ['/bounce-sources', '/incoming/sources'],
  ['/bounce-sources/{id}', '/incoming/sources/{id}'],
  ['/keys?kind=smtp', '/settings/smtp-logins'],
  ['/keys?kind=pages', '/settings/browser-keys'],
  ['/keys?kind=api', '/settings/keys'],
  ['/keys', '/settings/keys'],
  ['/webhooks', '/settings/webhooks'],
  ['/webhooks/{id}', '/settings/webhooks/{id}'],
  ['/agents', '/settings/agents'],
  ['/projects', '/settings/projects'],
  ['/projects/{id}', '/settings/projects/{id}'],
  ['/projects/{id}/move', '/settings/projects/{id}/move'],
  ['/members', '/settings/members'],
  ['/usage', '/settings/usage'],
  ['/usage/invoices', '/settings/invoices'],
  ['/usage/invoices/{id}', '/settings/invoices/{id}'],
  ['/usage/credits', '/settings/credits'],
  ['/audit', '/settings/audit'],
  ['/orgs', '/settings/organization'],
  ['/profile', '/settings/you'],
  ['/account', '/settings/you'],
  ['/moving-in', '/settings/import'],
]

/** Former paths without conditions. */
export const formerPaths: readonly string[] = [...new Set(moved.map(([before]) => before.replace(/\?.*/, '')))]

const patterns = moved.map(([before, now]) => {
  const [path = '', condition = ''] = before.split('?')
  return { path: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`), conditions: [...new URLSearchParams(condition)], now }
})

/** Returns the current address of a former one: path and query. Undefined if the screen did not move. */
export function currentAddress(path: string, query: URLSearchParams): string | undefined {
  for (const { path: pattern, conditions, now } of patterns) {
    const match = pattern.exec(path)
    if (!match || !conditions.every(([name, value]) => query.get(name) === value)) continue
    const rest = new URLSearchParams(query)
    for (const [name] of conditions) rest.delete(name)
    const current = now.replaceAll(/\{(\w+)\}/g, (_, name: string) => match.groups?.[name] ?? '')
    return rest.size === 0 ? current : `${current}?${rest.toString()}`
  }
  return undefined
}
