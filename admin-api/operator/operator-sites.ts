/** What the operator does about websites of tenants: finds them, takes one down in one act, and lets it back. */
import * as z from 'zod'
import { action, type Action } from '../actions/action.ts'
import { pageEncoder, pageFields } from '../wire/fields/paging.ts'
import { ownedSite, siteKeyInput, siteSearch, takedownInput, takenDownSite } from '../wire/sites/site.ts'
import type { RestCore } from '../rest/rest-core.ts'

const shared = { tags: ['operator'], scope: 'operator', errors: ['not_found'], output: takenDownSite } as const

export const operatorSiteActions: readonly Action<RestCore>[] = [
  action({
    ...{ id: 'operatorListAllSites', tags: ['operator'], scope: 'operator', summary: 'List the websites of all organizations by name' },
    input: z.strictObject({ q: siteSearch, ...pageFields }),
    output: pageEncoder(ownedSite),
    list: { item: ownedSite },
    http: { method: 'GET', path: '/operator/v1/sites' },
    run: ({ core }, query) => core.sites.takedowns.list(query),
  }),
  action({
    ...shared,
    id: 'operatorTakeDownSite',
    summary: 'Take a website down',
    description:
      'By its id or its name. From now on visitors get that status in place of everything, at all its hosts. It is in the audit log of its organization.',
    input: takedownInput,
    examples: { input: { status: 451, reason: 'Order of the court of Zurich, 2026-11-28' } },
    http: { method: 'PUT', path: '/operator/v1/sites/{id}/takedown' },
    run: ({ core, client }, { id, status, reason }) => core.sites.takedowns.set(id, { status, reason }, client.operatorId),
  }),
  action({
    ...shared,
    id: 'operatorLetSiteBack',
    summary: 'Let a website back that was taken down',
    input: siteKeyInput,
    http: { method: 'DELETE', path: '/operator/v1/sites/{id}/takedown', status: 200 },
    run: ({ core, client }, { id }) => core.sites.takedowns.set(id, null, client.operatorId),
  }),
]
