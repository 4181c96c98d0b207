/** Destinations and their mode. Spec "Destinations, routing, projects". */
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import {
  changedDestination,
  destination,
  destinationChanges,
  missingBesideProvider,
  modeInput,
  newDestination,
  presetQuery,
  promotedDestination,
  promotionInput,
  smtpPreset,
  toDestinationChanges,
  toNewDestination,
} from '../../wire/routing/destination.ts'
import { deletion } from '../../wire/fields/discard-queued.ts'
import { listEncoder } from '../../wire/fields/paging.ts'
import { provider, providerIds } from '../../wire/routing/provider.ts'
import { noInput } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['destinations']

/** Other operations of destinations are in separate files. */
export const destinationResource = resource('/v1/destinations', { name: 'Destination', tags, graphql: true })

const reading: readonly Action<RestCore>[] = [
  destinationResource.list({
    summary: 'List destinations, newest first',
    item: destination,
    tool: {
      name: 'email_provider_list',
      toolset: 'setup',
      description:
        'List the providers (destinations) that this project can send through, with id, mode (sandbox or live) and settings; ' +
        'never secrets. For providers to connect use email_provider_list_presets. Next: email_provider_health(destination_id).',
      arguments: [],
      fixed: { limit: 200 },
    },
    run: ({ core, principal }, page) => core.destinations.list(principal, page),
  }),
  action({
    id: 'listDestinationPresets',
    summary: 'List provider presets',
    tags,
    scope: 'api:read',
    input: presetQuery,
    output: listEncoder(smtpPreset),
    http: { method: 'GET', path: '/v1/destinations/presets' },
    run: ({ core }, { domain }) => core.presetChoices.list(domain),
  }),
  action({
    id: 'listDestinationProviders',
    summary: 'List providers with the credentials that each requires',
    tags,
    scope: 'api:read',
    input: noInput,
    output: listEncoder(provider),
    http: { method: 'GET', path: '/v1/destinations/providers' },
    run: () => providerIds,
  }),
  destinationResource.read({
    summary: 'Get a destination',
    output: destination,
    run: ({ core, principal }, { id }) => core.destinations.get(principal, id),
    runMany: ({ core, principal }, ids) => core.destinations.getMany(principal, ids),
  }),
]

const writing: readonly Action<RestCore>[] = [
  destinationResource.create({
    summary: 'Create a destination',
    description:
      'The new destination is in sandbox mode: its mail is captured until it is promoted to live. It is probed immediately, and ' +
      'created even if the probe fails; `warnings` lists problems that prevent delivery.',
    input: newDestination,
    output: changedDestination,
    examples: {
      input: { name: 'Webhoster', provider: 'smtp', preset: 'infomaniak', credentials: { username: 'shop@example.ch', password: '…' } },
    },
    http: { alsoMissing: async (body) => missingBesideProvider(body) },
    async run({ core, principal }, body) {
      const made = await core.destinations.create(principal, toNewDestination(body))
      return { ...made, warnings: await core.probes.firstLook(principal.organizationId, made) }
    },
  }),
  destinationResource.change({
    summary: 'Update a destination',
    description:
      'Omitted fields keep their values, including those of credentials. Queued mail uses the new settings. Only keys of the ' +
      'whole organization can update organization-wide destinations. New credentials are probed immediately, and `warnings` ' +
      'lists problems that prevent delivery.',
    errors: ['not_found', 'conflict', 'feature_disabled'],
    input: destinationChanges,
    output: changedDestination,
    async run({ core, principal }, { id, ...body }) {
      const changes = toDestinationChanges(body)
      const made = await core.destinations.update(principal, id, changes)
      return { ...made, warnings: changes.connection ? await core.probes.firstLook(principal.organizationId, made) : [] }
    },
  }),
  destinationResource.remove({
    summary: 'Delete a destination',
    description:
      'Refused with `conflict` while routing rules or SMTP credentials refer to the destination; `details` lists them. Also ' +
      'refused while mail is queued for it, unless `discard_queued` is true: that mail then fails, and its trace states the ' +
      'reason.',
    input: deletion,
    run: ({ core, principal }, { id, ...queued }) => core.destinations.remove(principal, id, queued),
  }),
]

const modes: readonly Action<RestCore>[] = [
  destinationResource.change({
    id: 'updateDestinationMode',
    summary: 'Set the mode of a destination',
    description: '`warnings` reports a live destination without a route.',
    input: modeInput,
    output: changedDestination,
    http: { path: '/v1/destinations/{id}/mode' },
    tool: {
      name: 'destination_set_mode',
      toolset: 'destinations',
      description:
        'Set a destination to sandbox (its mail is captured) or live (its mail reaches real people). Ask the user before live. ' +
        'To go live, destination_promote_to_live also reports whether it was live already. Affects mail sent from now on.',
      arguments: { destination_id: 'id', mode: 'mode' },
      hints: { destructive: true, idempotent: true },
    },
    async run({ core, principal }, { id, mode }) {
      const { destination: set, warnings } = await core.destinations.setMode(principal, id, mode)
      return { ...set, warnings }
    },
  }),
  destinationResource.act('promote-to-live', {
    summary: 'Promote a destination to live mode',
    description:
      'Idempotent: `already_live` is true if the destination was live before. Mail without `destination_id` is relayed only if a ' +
      'route leads to the destination: `default_route` creates a routing rule for all mail of the project in the same write. ' +
      '`route` describes how mail reaches the destination, and `warnings` lists missing parts. `default_route` is refused with ' +
      '`conflict` if all mail of the project is routed elsewhere; `details` then names the rule (`rule_id`), or the environment ' +
      'of the project or the default sender (`by`).',
    input: promotionInput,
    output: promotedDestination,
    examples: { input: { default_route: true } },
    http: { emptyBody: {} },
    tool: {
      name: 'destination_promote_to_live',
      toolset: 'destinations',
      description:
        'Let a sandbox destination deliver to real recipients. Call it only after the user agreed and email_provider_test ' +
        'succeeded. default_route=true also routes all mail of the project there. warnings: not_routed means that mail is still ' +
        'captured. To undo use destination_set_mode. Next: email_send_test.',
      arguments: { destination_id: 'id', default_route: 'default_route' },
      hints: { destructive: true, idempotent: true },
    },
    async run({ core, principal }, { id, ...wanted }) {
      const { destination: promoted, ...found } = await core.destinations.promoteToLive(principal, id, wanted)
      return { ...promoted, ...found }
    },
  }),
]

export const destinationActions: readonly Action<RestCore>[] = [...reading, ...writing, ...modes]
