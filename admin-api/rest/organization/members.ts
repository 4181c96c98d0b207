/** Members belong to the whole organization; keys of one project cannot manage them. */
import * as z from 'zod'
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { keyFates } from '../../wire/access/api-key.ts'
import { allMembers, member, roleChoice } from '../../wire/organization/member.ts'
import { idList, noInput } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['members']
const one = resource('/v1/members', { name: 'Member', tags })

export const memberActions: readonly Action<RestCore>[] = [
  action({
    id: 'listMembers',
    summary: 'List the members of the organization',
    description: 'All members are on one page: `next_cursor` is always null.',
    tags,
    scope: 'api:read',
    input: noInput,
    output: allMembers,
    list: { item: member },
    http: { method: 'GET', path: '/v1/members' },
    run: ({ core, principal }) => core.members.list(principal),
  }),
  one.change({
    summary: 'Change the role of a member',
    description:
      'Takes effect with the next request of the member and of the API keys that they created. Only a signed-in owner can add or ' +
      'remove owners. An organization always has at least one owner.',
    input: roleChoice,
    output: member,
    examples: { input: { role: 'developer' } },
    run: ({ core, principal }, { id, role }) => core.members.changeRole(principal, id, role),
  }),
  one.remove({
    summary: 'Remove a member',
    description:
      'Revokes access immediately, and the API keys that the member or their applications created; `GET ' +
      '/v1/api-keys?minted_by={id}` lists them beforehand. `keep_keys` lists the keys to keep: their maximum role does not ' +
      'change, but the removed member still knows their secrets, so rotate them. SMTP credentials and publishable keys belong to ' +
      'their project and remain.',
    input: z.strictObject({ keep_keys: idList('Comma-separated ids of the API keys to keep.') }),
    output: keyFates,
    run: ({ core, principal }, { id, keepKeys }) => core.members.remove(principal, id, keepKeys),
  }),
]
