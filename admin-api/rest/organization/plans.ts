/** The plans of the service. */
import { action, type Action } from '../../actions/action.ts'
import { noInput } from '../../wire/fields/text.ts'
import { allPlans } from '../../wire/organization/plan.ts'

export const planActions: readonly Action[] = [
  action({
    id: 'listPlans',
    summary: 'List plans with their limits',
    description:
      'The smallest plan first. `GET /v1/organizations/{id}` returns the effective limits, which can differ from the plan. Only ' +
      'the operator of the service can change the plan and the limits of an organization.',
    tags: ['usage'],
    scope: 'api:read',
    openToBilling: true,
    input: noInput,
    output: allPlans,
    http: { method: 'GET', path: '/v1/plans' },
    run: () => Promise.resolve(),
  }),
]
