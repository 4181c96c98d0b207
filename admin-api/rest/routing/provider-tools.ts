/** Tools that set up providers and domains, which combine several REST operations or use other names. Spec "Setup". */
import * as z from 'zod'
import { findPreset } from '#config/mail/presets.ts'
import { domainHealth } from '#core/health/resources.ts'
import type { PresetChoice } from '#core/routing/destinations/preset-choices.ts'
import type { HasHealth } from '#core/health/resource-health.ts'
import type { ShownDomain } from '#core/domains/sending-domains.ts'
import { action, type Action } from '../../actions/action.ts'
import { check } from '../../bodies/validation.ts'
import { encoderOf } from '../../wire/fields/codec.ts'
import { environmentName, filledLine, id, nameLine, noInput } from '../../wire/fields/text.ts'
import { changedDestination, newDestination, smtpPreset, toNewDestination } from '../../wire/routing/destination.ts'
import { domain, domainRecord } from '../../wire/routing/domain.ts'
import { provider, providerIds } from '../../wire/routing/provider.ts'
import type { RestCore } from '../rest-core.ts'

const about = { toolset: 'setup' } as const

const presets: Action<RestCore> = action({
  id: 'listProviderChoices',
  summary: 'List providers and presets to connect',
  tags: ['destinations'],
  scope: 'api:read',
  input: noInput,
  output: encoderOf(
    z.object({ providers: z.array(provider.schema), presets: z.array(smtpPreset.schema) }),
    (choices: readonly PresetChoice[]) => ({
      providers: providerIds.map((one) => provider.encode(one)),
      presets: choices.map((preset) => smtpPreset.encode(preset)),
    }),
  ),
  tool: {
    ...about,
    name: 'email_provider_list_presets',
    description:
      'List the values for provider of email_provider_connect: providers with the credentials that each requires, and presets of ' +
      'mail hosts.',
  },
  run: ({ core }) => core.presetChoices.list(),
})

const credentials = z
  .record(z.string().max(64), z.union([z.string().max(8192), z.int(), z.record(z.string().max(64), z.string().max(8192))]))
  .meta({
    description:
      'The credentials of the provider by name, as listed by email_provider_list_presets, such as {"username": "…", "password": ' + '"…"}.',
    writeOnly: true,
  })

const connect: Action<RestCore> = action({
  id: 'connectProvider',
  summary: 'Connect a provider',
  tags: ['destinations'],
  scope: 'api:admin',
  input: z.strictObject({
    provider: filledLine(64, 'A provider or a preset: smtp, ses, infomaniak and so on.').meta({ examples: ['smtp'] }),
    credentials,
    name: nameLine(100),
    environment: environmentName.optional(),
  }),
  output: changedDestination,
  tool: {
    ...about,
    name: 'email_provider_connect',
    description:
      'Connect a mail provider as a new destination, in sandbox mode: its mail is captured until destination_promote_to_live. ' +
      'Probes it at once; warnings list problems that prevent delivery. Let the user enter passwords in the dashboard rather ' +
      'than in chat. Next: email_provider_test, email_domain_verify_records.',
    untrusted: ['warnings'],
    hints: { openWorld: true },
  },
  async run({ core, principal }, { provider: named, ...rest }) {
    const isPreset = !providerIds.some((one) => one === named) && findPreset(named) !== undefined
    const body = check(newDestination, { ...rest, ...(isPreset ? { provider: 'smtp', preset: named } : { provider: named }) }, 'body')
    const made = await core.destinations.create(principal, toNewDestination(body))
    return { ...made, warnings: await core.probes.firstLook(principal.organizationId, made) }
  },
})

/** Fields with values found in DNS, and with hints that quote them. */
const foundFields = ['records.found', 'hint']

const domainName = filledLine(254, 'Such as example.ch.')

const status: Action<RestCore> = action({
  id: 'findDomainStatus',
  summary: 'Check a sending domain',
  tags: ['domains'],
  scope: 'api:read',
  input: z.strictObject({ domain: domainName }),
  output: encoderOf(z.object({ found: z.boolean(), domain: domain.schema.optional() }), (found: (ShownDomain & HasHealth) | undefined) =>
    found ? { found: true, domain: domain.encode(found) } : { found: false },
  ),
  tool: {
    ...about,
    name: 'email_domain_verify_status',
    description:
      'Get the verification status of a sending domain, and the values found for each DNS record. Looks DNS up now if the token ' +
      'may change domains, otherwise shows the latest lookup. found=false: the domain is not set up; use ' +
      'email_domain_verify_records. Verified mail is signed with DKIM.',
    reachesOrganization: true,
    untrusted: foundFields,
    hints: { openWorld: true },
  },
  async run({ core, principal }, { domain: name }) {
    const found = await core.sendingDomains.byName(principal, name)
    return found && core.health.one(principal, domainHealth, await core.sendingDomains.verify(principal, found.domain.id))
  },
})

const records: Action<RestCore> = action({
  id: 'findDomainRecords',
  summary: 'Get the DNS records of a domain',
  tags: ['domains'],
  scope: 'api:read',
  input: z.strictObject({ domain: domainName, destination_id: id }),
  output: encoderOf(
    z.object({ domain: z.string(), created: z.boolean(), records: z.array(domainRecord.schema) }),
    (found: { readonly domain: string; readonly created: boolean; readonly records: ShownDomain['records'] }) => ({
      ...found,
      records: found.records.map((record) => domainRecord.encode(record)),
    }),
  ),
  tool: {
    ...about,
    name: 'email_domain_verify_records',
    description:
      'Get the DNS records to publish so that receivers trust mail of a domain through this destination. Sets up a new domain, ' +
      'which needs mcp:admin and settings of the organization. Show the records to the user. Next: email_domain_verify_status ' +
      'after publication.',
    reachesOrganization: true,
    untrusted: foundFields,
    hints: { readOnly: false, idempotent: true },
  },
  async run({ core, principal }, { domain: name, destinationId }) {
    // domains belong to the organization, destinations to the project
    await core.destinations.get({ ...principal, bound: true }, destinationId)
    const found = await core.sendingDomains.byName(principal, name)
    const { domain: one } = found ?? (await core.sendingDomains.create(principal, { domain: name, ed25519: false }))
    const expected = await core.sendingDomains.recordsFor(principal, one.id, destinationId)
    return { domain: one.domain, created: found === undefined, records: expected }
  },
})

export const providerTools: readonly Action<RestCore>[] = [presets, connect, status, records]
