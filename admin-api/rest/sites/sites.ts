/** Managed websites: sites, their domains and their use. Spec "Managed Websites". */
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
    run: ({ core, principal }, query) => core.sites.sites.list(principal, query),
  }),
  sites.create({
    summary: 'Create a website',
    description:
      'Its address follows from its name, which no other site of the service has. It serves nothing before its first deploy is activated.',
    errors: ['not_found', 'conflict', 'feature_unavailable'],
    input: newSite,
    output: site,
    examples: { input: { slug: 'alpenblick' } },
    run: ({ core, principal }, given) => core.sites.sites.create(principal, given),
  }),
  sites.read({ summary: 'Get a website', output: site, run: ({ core, principal }, { id }) => core.sites.sites.get(principal, id) }),
  sites.change({
    summary: 'Rename, move or pause a website',
    description: 'A name that is given up is free for everybody at once. A site moves with its deploys, and keeps its address.',
    input: siteChanges,
    output: site,
    run: ({ core, principal }, { id, ...changes }) => core.sites.sites.update(principal, id, changes),
  }),
  sites.remove({
    summary: 'Delete a website for good',
    description: 'With its deploys and their files. Its name is free for everybody at once.',
    run: ({ core, principal }, { id }) => core.sites.sites.remove(principal, id),
  }),
  sites.readOf('usage', {
    summary: 'Get what a website stores and sends',
    graphql: 'none', // octets go beyond the Int of GraphQL
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
    description: 'It leads to the site once its records are published and `verify` has found them. The same domain again changes nothing.',
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
    summary: 'Look for the records of a domain',
    description:
      'What is wrong stands in `problem`; the status is 200 all the same. `conflict`: another site has proved that the domain is its own.',
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
