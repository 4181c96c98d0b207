/** The start page: the organizations of the user, and invitations to others. */
import type { Membership } from '#core/people/members/members.ts'
import type { InvitationView } from '#core/people/members/invitations.ts'
import { scopesOfRole } from '#core/access/principal/role.ts'
import { maxUserName } from '#core/people/users/user.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { csrfField } from '../session/confirm-first.ts'
import { doneNotice, faultSummary, textField, type FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { seeOther, type Pages, type SignedInRequest } from '../session/page-operation.ts'
import { usagePath } from './usage-page.ts'
import { doneWords, roleWords, timeOf } from '../layout/page-words.ts'

const path = '/organizations'
export const organizationsPath = path
const back = (): string => path

export const organizationOperations = (pages: Pages): readonly Operation[] => {
  const { people } = pages
  return [
    pages.signedIn({ path, operationId: 'showOrganizations', summary: 'List the organizations of the user' }, (request) =>
      organizationsPage(pages, request),
    ),
    pages.form(
      { path, operationId: 'foundOrganization', summary: 'Create an organization', back },
      async ({ signedIn, form }) => {
        const id = await people.accounts.found(signedIn.user, form.get('organization') ?? '')
        return seeOther(`${membersPath(id)}?done=founded`)
      },
      (request) =>
        organizationsPage(pages, request, {
          field: 'organization',
          message: `Enter a name on one line, with at most ${maxUserName} characters.`,
        }),
    ),
    pages.form(
      { path: '/invitations/accept', operationId: 'acceptInvitation', summary: 'Accept an invitation', back },
      async ({ signedIn, form }) => {
        const organizationId = form.get('organization') ?? ''
        await people.invitations.accept(signedIn.user, organizationId, form.get('invitation') ?? '', form.get('link') ?? '')
        return seeOther(`${path}?done=accepted`)
      },
    ),
  ]
}

export const membersPath = (organizationId: string): string => `/organizations/${organizationId}/members`

async function organizationsPage({ people }: Pages, request: SignedInRequest, fault?: FieldFault): Promise<Answer> {
  const { signedIn, visitor, query, form } = request
  const [mine, invited, mayFound] = await Promise.all([
    people.members.organizationsOf(signedIn.user.id),
    people.invitations.forUser(signedIn.user),
    people.accounts.mayFound(signedIn.user),
  ])
  return page({
    title: fault ? 'Problem: Organizations' : 'Organizations',
    width: 'wide',
    visitor,
    section: 'organizations',
    ...(fault && { status: 400 }),
    content: html`<h1>Organizations</h1>
      ${doneNotice(doneWords(query('done')))} ${faultSummary(fault)} ${invited.length > 0 && invitedSection(invited, csrfField(visitor))}
      <section class="sheet" aria-labelledby="mine">
        <h2 id="mine">Yours</h2>
        ${
          mine.length > 0
            ? html`<ul class="rows">
                ${mine.map(organizationRow)}
              </ul>`
            : nowhere(signedIn.user.email, mayFound)
        }
      </section>
      ${
        mayFound &&
        html`<section class="sheet" aria-labelledby="found">
          <h2 id="found">Make an organization</h2>
          <form method="post" action="/organizations" novalidate>
            ${csrfField(visitor)}
            <div class="inline">
              ${textField({
                ...{ name: 'organization', label: 'Name', autocomplete: 'organization', maxLength: maxUserName, fault },
                value: form.get('organization') ?? '',
              })}
              <button>Make it</button>
            </div>
          </form>
        </section>`
      }`,
  })
}

const organizationRow = ({ organization: { id, name }, member: { role } }: Membership): Html =>
  html`<li>
    <div>
      <h3>${name}</h3>
      <p class="meta">${roleWords[role].label}: ${roleWords[role].meaning}.</p>
    </div>
    <p class="side">
      ${scopesOfRole(role).scopes.length > 0 && html`<a class="button quiet" href="${path}/${id}/inboxes" aria-label="Captured mail of ${name}">Captured mail</a>`}
      ${scopesOfRole(role).seesBilling && html`<a class="button quiet" href="${usagePath(id)}" aria-label="Usage of ${name}">Usage</a>`}
      ${role !== 'billing' && html`<a class="button quiet" href="${membersPath(id)}" aria-label="Members of ${name}">Members</a>`}
    </p>
  </li>`

const nowhere = (email: string, mayFound: boolean): Html =>
  html`<p>
    You are not a member of an organization yet.
    ${mayFound ? 'Create one below.' : html`Ask one of its administrators to invite <b>${email}</b>.`}
  </p>`

const invitedSection = (invited: readonly InvitationView[], csrf: Html): Html =>
  html`<section class="sheet" aria-labelledby="invited">
    <h2 id="invited">Invitations</h2>
    <ul class="rows">
      ${invited.map(
        ({ invitation, organization }) =>
          html`<li>
            <div>
              <h3>${organization.name}</h3>
              <p class="meta">As ${roleWords[invitation.role].label}, until ${timeOf(invitation.expiresAt)}.</p>
            </div>
            <form class="side" method="post" action="/invitations/accept">
              ${csrf}<input type="hidden" name="organization" value="${organization.id}" />
              <input type="hidden" name="invitation" value="${invitation.id}" />
              <button aria-label="Accept the invitation to ${organization.name}">Accept</button>
            </form>
          </li>`,
      )}
    </ul>
  </section>`
