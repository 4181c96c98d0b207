/** The plans of the service. */
import { action, type Action } from '../../actions/action.ts'
import { noInput } from '../../wire/fields/text.ts'
import { allPlans } from '../../wire/organization/plan.ts'

export const planActions: readonly Action[] = [
  action({
    id: 'listPlans',
    summary: 'List plans with their limits',
    description:
      'The smallest first. `GET /v1/organizations/{id}` returns the limits in force, which the operator of the service can set apart from the plan. Only the operator puts an organization on a plan.',
    tags: ['usage'],
    scope: 'api:read',
    openToBilling: true,
    input: noInput,
    output: allPlans,
    http: { method: 'GET', path: '/v1/plans' },
    run: () => Promise.resolve(),
  }),
]
