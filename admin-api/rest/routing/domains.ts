/** Sending domains: DNS records to publish, their verification, and DKIM keys. */
import * as z from 'zod'
import { domainHealth } from '#core/health/resources.ts'
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { domain, domainRecord, newDomain } from '../../wire/routing/domain.ts'
import { listEncoder } from '../../wire/fields/paging.ts'
import { id } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const domains = resource('/v1/domains', { name: 'Domain', tags: ['domains'] })

export const domainActions: readonly Action<RestCore>[] = [
  domains.list({
    summary: 'List sending domains, newest first',
    errors: [],
    filter: {},
    item: domain,
    run: async ({ core, principal }, page) => core.health.page(principal, domainHealth, await core.sendingDomains.list(principal, page)),
  }),
  domains.read({
    summary: 'Get a sending domain with the DNS records to publish',
    output: domain,
    run: async ({ core, principal }, { id }) => core.health.one(principal, domainHealth, await core.sendingDomains.get(principal, id)),
  }),
  domains.readOf('records', {
    summary: 'Get the DNS records of a sending domain for a destination',
    input: z.strictObject({ destination_id: id.optional() }),
    output: listEncoder(domainRecord),
    run: ({ core, principal }, { id, destinationId }) => core.sendingDomains.recordsFor(principal, id, destinationId),
  }),
  domains.create({
    summary: 'Create a sending domain',
    errors: ['conflict'],
    input: newDomain,
    output: domain,
    examples: { input: { domain: 'example.ch' } },
    run: async ({ core, principal }, { domain: name, ed25519 = false }) =>
      core.health.one(principal, domainHealth, await core.sendingDomains.create(principal, { domain: name, ed25519 })),
  }),
  domains.act('verify', {
    summary: 'Verify a sending domain',
    description:
      'Looks up the DNS records of the domain. DKIM keys with published records start signing. Callers without permission to ' +
      'change domains, and keys of one project, receive the stored result without a new lookup.',
    output: domain,
    run: async ({ core, principal }, { id }) => core.health.one(principal, domainHealth, await core.sendingDomains.verify(principal, id)),
  }),
  domains.act('rotate-dkim', {
    summary: 'Rotate the DKIM keys of a sending domain',
    description: 'The new keys start signing when their records are published and verified.',
    output: domain,
    run: async ({ core, principal }, { id }) => core.health.one(principal, domainHealth, await core.sendingDomains.rotate(principal, id)),
  }),
  domains.remove({
    summary: 'Delete a sending domain',
    description: 'Mail from the domain is no longer signed.',
    run: ({ core, principal }, { id }) => core.sendingDomains.remove(principal, id),
  }),
]
