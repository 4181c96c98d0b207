/** Managed websites: sites, their domains and their usage. Spec "Managed Websites". */
import { siteHealth } from '#core/health/resources.ts'
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { listEncoder } from '../../wire/fields/paging.ts'
import { domainInput, newDomain, newSite, site, siteChanges, siteDomain, siteUsage, usageInput } from '../../wire/sites/site.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['sites']
const feature = 'managed_websites'
const sites = resource('/v1/sites', { name: 'Site', tags, feature, graphql: true })

const keeping: readonly Action<RestCore>[] = [
  sites.list({
    summary: 'List websites, newest first',
    item: site,
    run: async ({ core, principal }, query) => core.health.page(principal, siteHealth, await core.sites.sites.list(principal, query)),
  }),
  sites.create({
    summary: 'Create a website',
    description:
      'Its URL follows from its name, which is unique in the service. The site serves nothing until its first deploy is activated.',
    errors: ['not_found', 'conflict', 'feature_unavailable'],
    input: newSite,
    output: site,
    examples: { input: { slug: 'alpenblick' } },
    run: async ({ core, principal }, given) => core.health.one(principal, siteHealth, await core.sites.sites.create(principal, given)),
  }),
  sites.read({
    summary: 'Get a website',
    output: site,
    run: async ({ core, principal }, { id }) => core.health.one(principal, siteHealth, await core.sites.sites.get(principal, id)),
  }),
  sites.change({
    summary: 'Rename, move or pause a website',
    description: 'After a rename, any organization can use the old name immediately. A site moves with its deploys, and keeps its URL.',
    input: siteChanges,
    output: site,
    run: async ({ core, principal }, { id, ...changes }) =>
      core.health.one(principal, siteHealth, await core.sites.sites.update(principal, id, changes)),
  }),
  sites.remove({
    summary: 'Permanently delete a website',
    description: 'Deletes its deploys and their files. Any organization can use its name immediately.',
    run: ({ core, principal }, { id }) => core.sites.sites.remove(principal, id),
  }),
  sites.readOf('usage', {
    summary: 'Get the storage and traffic of a website',
    graphql: 'none', // byte counts exceed the Int of GraphQL
    input: usageInput,
    output: siteUsage,
    run: ({ core, principal }, { id, days }) => core.sites.usages.read(principal, id, days),
  }),
]

const domains: readonly Action<RestCore>[] = [
  sites.readOf('domains', {
    id: 'listSiteDomains',
    summary: 'List the domains of a website',
    output: listEncoder(siteDomain),
    run: ({ core, principal }, { id }) => core.sites.domains.list(principal, id),
  }),
  sites.act('domains', {
    id: 'addSiteDomain',
    summary: 'Claim a domain for a website',
    description:
      'The domain leads to the site after its records are published and `verify` has found them. Adding the same domain again ' +
      'changes nothing.',
    input: newDomain,
    output: siteDomain,
    examples: { input: { domain: 'www.example.ch' } },
    http: { status: 201 },
    run: ({ core, principal }, { id, domain }) => core.sites.domains.add(principal, id, domain),
  }),
  action({
    ...{
      id: 'verifySiteDomain',
      graphql: { field: 'verifySiteDomain', root: 'mutation' },
      tags,
      feature,
      scope: 'api:admin',
      errors: ['not_found', 'conflict'],
    },
    summary: 'Verify the records of a domain',
    description: 'Problems are in `problem`; the status is still 200. `conflict`: another site has already verified the domain.',
    input: domainInput,
    output: siteDomain,
    http: { method: 'POST', path: '/v1/sites/{id}/domains/{domain}/verify' },
    run: ({ core, principal }, { id, domain }) => core.sites.domains.verify(principal, id, domain),
  }),
  action({
    ...{
      id: 'removeSiteDomain',
      graphql: { field: 'removeSiteDomain', root: 'mutation' },
      tags,
      feature,
      scope: 'api:admin',
      errors: ['not_found', 'conflict'],
    },
    summary: 'Remove a domain of a website',
    input: domainInput,
    http: { method: 'DELETE', path: '/v1/sites/{id}/domains/{domain}' },
    run: ({ core, principal }, { id, domain }) => core.sites.domains.remove(principal, id, domain),
  }),
]

export const siteActions: readonly Action<RestCore>[] = [...keeping, ...domains]
