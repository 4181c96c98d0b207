/** Members of an organization and invitations to it. */
import type { Principal } from '#core/access/principal/principal.ts'
import { roles, type Role } from '#core/access/principal/role.ts'
import type { OpenedInvitation } from '#core/people/members/invitations.ts'
import { Refusal } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { keysToKeep } from '../layout/key-choice.ts'
import { seeOther, type Pages, type SignedInRequest } from '../session/page-operation.ts'
import { membersPath } from './organizations.ts'
import { membersPage } from './members-page.ts'
import { doneText } from '../layout/page-texts.ts'

const back = ({ id = '' }: Readonly<Record<string, string>>): string => membersPath(id)

export const memberOperations = (pages: Pages): readonly Operation[] => {
  const { people } = pages
  const path = '/organizations/{id}/members'
  /** A form of the members' page. It requires a recently confirmed session, since its changes are hard to undo. */
  const form = (
    facts: { readonly path: string; readonly operationId: string; readonly summary: string },
    done: string,
    act: (principal: Principal, request: SignedInRequest) => Promise<unknown>,
  ): Operation =>
    pages.form(
      { ...facts, back },
      async (request) => {
        const { id = '' } = request.params
        people.sessions.requireFresh(request.signedIn.session)
        const result = await act(await people.members.principalOf(request.signedIn.user.id, id), request)
        if (isToHandOver(result)) return membersPage(pages, request, { opened: result })
        return seeOther(`${membersPath(id)}?done=${done}`)
      },
      (request, refusal) => membersPage(pages, request, { refusal }),
    )
  const at = (name: string, request: SignedInRequest): string => request.form.get(name) ?? ''
  return [
    pages.signedIn({ path, operationId: 'showMembers', summary: 'List members and invitations' }, (request) =>
      membersPage(pages, request, { done: doneText(request.query('done'), request.texts) }),
    ),
    form({ path: `${path}/role`, operationId: 'setRole', summary: 'Change a role' }, 'role', (principal, request) =>
      people.members.changeRole(principal, at('member', request), roleFrom(at('role', request))),
    ),
    form({ path: `${path}/remove`, operationId: 'dropMember', summary: 'Remove a member' }, 'removed', (principal, request) =>
      people.members.remove(principal, at('member', request), keysToKeep(request.form)),
    ),
    form(
      { path: `${path}/transfer`, operationId: 'transferOwnership', summary: 'Transfer the ownership' },
      'transferred',
      (principal, request) => people.members.transferOwnership(principal, at('member', request)),
    ),
    form({ path: `${path}/invite`, operationId: 'invite', summary: 'Invite a member' }, 'invited', (principal, request) =>
      people.invitations.create(principal, { email: at('email', request), role: roleFrom(at('role', request)) }),
    ),
    form({ path: `${path}/resend`, operationId: 'inviteAgain', summary: 'Send an invitation again' }, 'resent', (principal, request) =>
      people.invitations.resend(principal, at('invitation', request)),
    ),
    form(
      { path: `${path}/revoke`, operationId: 'takeBackInvitation', summary: 'Withdraw an invitation' },
      'revoked',
      (principal, request) => people.invitations.revoke(principal, at('invitation', request)),
    ),
    pages.form(
      { path: '/organizations/{id}/leave', operationId: 'leaveOrganization', summary: 'Leave an organization', back },
      leave(pages),
      (request, refusal) => membersPage(pages, request, { refusal }),
    ),
  ]
}

/** Shows the link at once, since it is not stored elsewhere. */
const isToHandOver = (result: unknown): result is OpenedInvitation => (result as Partial<OpenedInvitation> | undefined)?.link !== undefined

const leave =
  ({ people }: Pages) =>
  async ({ signedIn, form, params: { id = '' } }: SignedInRequest): Promise<Answer> => {
    people.sessions.requireFresh(signedIn.session)
    await people.members.remove(await people.members.principalOf(signedIn.user.id, id), signedIn.user.id, keysToKeep(form))
    return seeOther('/organizations?done=left')
  }

function roleFrom(text: string): Role {
  const role = roles.find((one) => one === text)
  if (role) return role
  throw new Refusal('validation_failed', 'Choose a role from the list.')
}
