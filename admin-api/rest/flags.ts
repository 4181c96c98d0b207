/** The flags of the organization. */
import { action, type Action } from '../actions/action.ts'
import { flags } from '../wire/flag.ts'
import { noInput } from '../wire/text.ts'
import type { RestCore } from './core.ts'

export const flagActions = ({ policies }: RestCore): readonly Action[] => [
  action({
    id: 'listFlags',
    summary: 'List the features that can be switched off, and whether the organization may use each',
    description: 'What needs a flag that is off is refused with feature_disabled. Flags are set by the operator of the service.',
    tags: ['flags'],
    scope: 'api:read',
    input: noInput,
    output: flags,
    http: { method: 'GET', path: '/v1/flags' },
    run: async ({ principal }) => (await policies.of(principal.organizationId)).organization,
  }),
]
