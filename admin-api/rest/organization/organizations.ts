/** Organizations: the organization of the key and its team organizations. */
import { graceDays } from '#core/tenancy/removal-key.ts'
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { deletion } from '../../wire/fields/discard-queued.ts'
import { madeOrganization, organization, organizationInput } from '../../wire/organization/organization.ts'
import type { RestCore } from '../rest-core.ts'

const all = resource('/v1/organizations', { name: 'Organization', tags: ['organizations'] })

export const organizationActions: readonly Action<RestCore>[] = [
  all.list({
    summary: 'List organizations',
    description:
      'The organization of the key comes first, then its team organizations, oldest first. A key of one project sees only its ' +
      'own organization.',
    errors: [],
    filter: {},
    item: organization,
    run: ({ core, principal }, page) => core.organizations.list(principal, page),
  }),
  all.read({
    summary: 'Get an organization with its plan, limits and payment state',
    openToBilling: true,
    output: organization,
    run: ({ core, principal }, { id }) => core.organizations.get(principal, id),
  }),
  all.create({
    summary: 'Create a team organization',
    description:
      'Only this response contains the first API key of the new organization. A signed-in person also becomes its owner. The ' +
      'organization starts on the plan free, with its project Default. The plan limits the number of team organizations.',
    errors: ['conflict', 'quota_exhausted'],
    input: organizationInput,
    output: madeOrganization,
    examples: { input: { name: 'Bakery' } },
    run: ({ core, principal }, { name }) => core.organizations.create(principal, name),
  }),
  all.change({
    summary: 'Update an organization',
    input: organizationInput,
    output: organization,
    run: ({ core, principal }, { id, name }) => core.organizations.rename(principal, id, name),
  }),
  all.remove({
    summary: 'Delete an organization',
    description:
      'A team organization can be deleted by the organization that created it, and every organization by one of its signed-in ' +
      `owners. Its keys and logins stop working and its sending stops immediately. The operator can restore it for ${graceDays} ` +
      `days; then all its data is permanently removed. Refused with \`conflict\` while mail is queued, unless \`discard_queued\` ` +
      'is true: then that mail fails.',
    input: deletion,
    run: ({ core, principal }, { id, ...mail }) => core.organizations.remove(principal, id, mail),
  }),
]
