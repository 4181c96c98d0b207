/** Members of the organization. They belong to the whole organization, so keys of one project have no say. */
import * as z from 'zod'
import { action, type Action } from '../actions/action.ts'
import { resource } from '../actions/resource.ts'
import { keyFates } from '../wire/api-key.ts'
import { allMembers, member, roleChoice } from '../wire/member.ts'
import { idList, noInput } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['members']
const one = resource('/v1/members', { name: 'Member', tags })

export const memberActions = ({ members }: RestCore): readonly Action[] => [
  action({
    id: 'listMembers',
    summary: 'List the members of the organization',
    description: 'All of them on one page: `next_cursor` is always null.',
    tags,
    scope: 'api:read',
    input: noInput,
    output: allMembers,
    list: { item: member },
    http: { method: 'GET', path: '/v1/members' },
    run: ({ principal }) => members.list(principal),
  }),
  one.change({
    summary: 'Change the role of a member',
    description:
      'Takes effect with the next request of the member and of the API keys that they minted. Only an owner who is signed in makes and unmakes owners, and one always stays.',
    input: roleChoice,
    output: member,
    examples: { input: { role: 'developer' } },
    run: ({ principal }, { id, role }) => members.changeRole(principal, id, role),
  }),
  one.remove({
    summary: 'Remove a member',
    description:
      'Access ends at once, and so do the API keys that the member or their applications minted; GET /v1/api-keys?minted_by={id} lists them ' +
      'beforehand. keep_keys names those to keep: they go on with the ceiling that they have, and their secret is known to who left, so ' +
      'rotate them. SMTP credentials and publishable keys belong to their project and stay.',
    input: z.strictObject({ keep_keys: idList('API keys to keep, as ids with commas between them.') }),
    output: keyFates,
    run: ({ principal }, { id, keepKeys }) => members.remove(principal, id, keepKeys),
  }),
]
