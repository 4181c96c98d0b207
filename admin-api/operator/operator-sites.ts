/** Operations of the operator on websites of organizations: find, take down and restore a website. */
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
      'Accepts its id or name. All its hosts return this status for every request. The audit log of its organization records it.',
    input: takedownInput,
    examples: { input: { status: 451, reason: 'Order of the court of Zurich, 2026-11-28' } },
    http: { method: 'PUT', path: '/operator/v1/sites/{id}/takedown' },
    run: ({ core, client }, { id, status, reason }) => core.sites.takedowns.set(id, { status, reason }, client.operatorId),
  }),
  action({
    ...shared,
    id: 'operatorLetSiteBack',
    summary: 'Restore a website that was taken down',
    input: siteKeyInput,
    http: { method: 'DELETE', path: '/operator/v1/sites/{id}/takedown', status: 200 },
    run: ({ core, client }, { id }) => core.sites.takedowns.set(id, null, client.operatorId),
  }),
]
