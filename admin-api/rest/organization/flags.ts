/** The flags of the organization. */
import { action, type Action } from '../../actions/action.ts'
import { flags } from '../../wire/organization/flag.ts'
import { noInput } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

export const flagActions: readonly Action<RestCore>[] = [
  action({
    id: 'listFlags',
    summary: 'List feature flags',
    description:
      'Returns every feature that can be disabled and whether the organization can use it. Requests that need a disabled feature ' +
      'are refused with `feature_disabled`. Only the operator of the service can set flags.',
    tags: ['flags'],
    scope: 'api:read',
    input: noInput,
    output: flags,
    http: { method: 'GET', path: '/v1/flags' },
    run: async ({ core, principal }) => (await core.policies.of(principal.organizationId)).organization,
  }),
]
