/** Destinations and their mode. Spec "Destinations, routing, projects". */
import * as z from 'zod'
import { findPreset, presetIds } from '#config/presets.ts'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import {
  changedDestinationShape,
  destinationChangesBody,
  destinationShape,
  modeBody,
  missingBesideProvider,
  newDestinationBody,
  presetShape,
  toDestinationChanges,
  toNewDestination,
  toWireDestination,
  toWirePreset,
} from '../wire/destination.ts'
import { deletionQuery, toDeletion } from '../wire/discard-queued.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { providerShape, wireProviders } from '../wire/provider.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['destinations']

export const destinationOperations = (core: RestCore): readonly Operation[] => [...reading(core), ...writing(core), ...modes(core)]

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/destinations',
    operationId: 'listDestinations',
    summary: 'List destinations, the newest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(destinationShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const page = await core.destinations.list(scope, { limit, cursor, projectId: project })
      return { data: page.rows.map(toWireDestination), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/destinations/presets',
    operationId: 'listDestinationPresets',
    summary: 'List the presets of well-known mail providers',
    tags,
    right: 'api:read',
    response: z.object({ data: z.array(presetShape) }),
    handle: () => ({
      data: presetIds
        .map(findPreset)
        .filter((preset) => preset !== undefined)
        .map(toWirePreset),
    }),
  }),
  operation({
    method: 'GET',
    path: '/v1/destinations/providers',
    operationId: 'listDestinationProviders',
    summary: 'List the providers and the credentials each needs',
    tags,
    right: 'api:read',
    response: z.object({ data: z.array(providerShape) }),
    handle: () => ({ data: wireProviders() }),
  }),
  operation({
    method: 'GET',
    path: '/v1/destinations/{id}',
    operationId: 'readDestination',
    summary: 'Read a destination',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: destinationShape,
    handle: async ({ scope, params }) => toWireDestination(await core.destinations.get(scope, params.id)),
  }),
]

const writing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/destinations',
    operationId: 'createDestination',
    summary: 'Connect a mail provider',
    description:
      'The new destination is in sandbox mode: what would go there is captured until it is promoted to live. ' +
      'It is probed at once, and warnings tell what keeps it from working; it is kept all the same.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict'],
    alsoMissing: async (body) => missingBesideProvider(body),
    body: newDestinationBody,
    response: changedDestinationShape,
    examples: {
      body: { name: 'Webhoster', provider: 'smtp', preset: 'infomaniak', credentials: { username: 'shop@example.ch', password: '…' } },
    },
    async handle({ scope, body }) {
      const destination = await core.destinations.create(scope, toNewDestination(body))
      return { ...toWireDestination(destination), warnings: [...(await core.probes.firstLook(destination))] }
    },
  }),
  operation({
    method: 'PATCH',
    path: '/v1/destinations/{id}',
    operationId: 'updateDestination',
    summary: 'Change a destination',
    description:
      'Fields that are left out stay as they are, also those of credentials. Queued mail uses the new settings. ' +
      'Organization-wide destinations are changed by keys of the whole organization only. New credentials are probed at once, ' +
      'and warnings tell what keeps them from working.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict', 'feature_disabled'],
    params: idParams,
    body: destinationChangesBody,
    response: changedDestinationShape,
    async handle({ scope, params, body }) {
      const changes = toDestinationChanges(body)
      const destination = await core.destinations.update(scope, params.id, changes)
      const warnings = changes.connection ? await core.probes.firstLook(destination) : []
      return { ...toWireDestination(destination), warnings: [...warnings] }
    },
  }),
  operation({
    method: 'DELETE',
    path: '/v1/destinations/{id}',
    operationId: 'deleteDestination',
    summary: 'Remove a destination',
    description:
      'Refused with conflict while routing rules or SMTP credentials name it; details lists them. ' +
      'Refused too while mail is queued for it, unless discard_queued is true: then that mail fails, and its trace says why.',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['not_found', 'conflict'],
    params: idParams,
    query: deletionQuery,
    response: noBody,
    handle: ({ scope, params, query }) => core.destinations.remove(scope, params.id, toDeletion(query)),
  }),
]

const modes = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'PATCH',
    path: '/v1/destinations/{id}/mode',
    operationId: 'setDestinationMode',
    summary: 'Put a destination into sandbox or live mode',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: modeBody,
    response: destinationShape,
    handle: async ({ scope, params, body }) => toWireDestination(await core.destinations.setMode(scope, params.id, body.mode)),
  }),
  operation({
    method: 'POST',
    path: '/v1/destinations/{id}/promote-to-live',
    operationId: 'promoteDestinationToLive',
    summary: 'Let a destination relay',
    description: 'Idempotent; `already_live` tells whether it was live before.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: destinationShape.extend({ already_live: z.boolean() }).meta({ id: 'PromotedDestination' }),
    async handle({ scope, params }) {
      const { destination, alreadyLive } = await core.destinations.promoteToLive(scope, params.id)
      return { ...toWireDestination(destination), already_live: alreadyLive }
    },
  }),
]
