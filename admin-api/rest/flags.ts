/** The flags of the organization. */
import * as z from 'zod'
import { operation, type Operation } from '../operation.ts'
import { flagShape, wireFlags } from '../wire/flag.ts'
import type { RestCore } from './core.ts'

export const flagOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/flags',
    operationId: 'listFlags',
    summary: 'List the features that can be switched off, and whether the organization may use each',
    description: 'What needs a flag that is off is refused with feature_disabled. Flags are set by the operator of the service.',
    tags: ['flags'],
    right: 'api:read',
    response: z.object({ data: z.array(flagShape) }),
    handle: async ({ scope }) => ({ data: wireFlags((await core.policies.of(scope.organizationId)).organization) }),
  }),
]
