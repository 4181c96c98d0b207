/** Organizations: the own one and its team organizations. */
import { graceDays } from '#core/tenancy/removal-key.ts'
import type { Action } from '../actions/action.ts'
import { resource } from '../actions/resource.ts'
import { deletion } from '../wire/discard-queued.ts'
import { madeOrganization, organization, organizationInput } from '../wire/organization.ts'
import type { RestCore } from './core.ts'

const all = resource('/v1/organizations', { name: 'Organization', tags: ['organizations'] })

export const organizationActions = ({ organizations }: RestCore): readonly Action[] => [
  all.list({
    summary: 'List the own organization and the team organizations it made',
    description: 'The own one comes first, then the others, the oldest first. A key of one project sees the own one only.',
    errors: [],
    filter: {},
    item: organization,
    run: ({ principal }, page) => organizations.list(principal, page),
  }),
  all.read({
    summary: 'Read an organization: its plan, limits and payment state',
    output: organization,
    run: ({ principal }, { id }) => organizations.get(principal, id),
  }),
  all.create({
    summary: 'Make a team organization',
    description:
      'A key belongs to one organization, so the answer has a first key of the new one, shown this once. It begins on the plan free, with ' +
      'its project Default. How many are alive at the same time is a limit of the plan.',
    errors: ['conflict', 'quota_exhausted'],
    input: organizationInput,
    output: madeOrganization,
    examples: { input: { name: 'Bakery' } },
    run: ({ principal }, { name }) => organizations.create(principal, name),
  }),
  all.change({
    summary: 'Rename an organization',
    input: organizationInput,
    output: organization,
    run: ({ principal }, { id, name }) => organizations.rename(principal, id, name),
  }),
  all.remove({
    summary: 'Delete a team organization',
    description:
      `At once none of its keys and logins works, and nothing is sent for it any more. For ${graceDays} days the operator can restore it; then ` +
      'everything of it is removed. Refused with conflict while mail is queued, unless discard_queued is true: then that mail fails.',
    input: deletion,
    run: ({ principal }, { id, ...mail }) => organizations.remove(principal, id, mail),
  }),
]
