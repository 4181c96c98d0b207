/** Applications, such as agents, authorized by members. */
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { allApplications, application } from '../../wire/access/application.ts'
import { keyFates } from '../../wire/access/api-key.ts'
import { noInput } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['applications']
const one = resource('/v1/applications', { name: 'Application', tags })

export const applicationActions: readonly Action<RestCore>[] = [
  action({
    id: 'listApplications',
    summary: 'List authorized applications',
    description:
      'Agents and other programs that members authorized for a project, newest first. Administrators, and keys that administer ' +
      'the organization, see the applications of all members; a signed-in member sees only their own. All applications are on ' +
      'one page: `next_cursor` is always null.',
    tags,
    scope: 'api:read',
    input: noInput,
    output: allApplications,
    list: { item: application },
    http: { method: 'GET', path: '/v1/applications' },
    run: ({ core, principal }) => core.applications.list(principal),
  }),
  one.remove({
    id: 'revokeApplication',
    summary: 'Revoke the access of an application',
    description:
      'Revokes all of its tokens for the project immediately, and the API keys that it created. SMTP credentials and publishable ' +
      'keys that it created remain.',
    output: keyFates,
    run: ({ core, principal }, { id }) => core.applications.revoke(principal, id),
  }),
]
