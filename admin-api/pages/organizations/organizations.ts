/** The page of the user's organizations and invitations. */
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
import type { PageTexts } from '../texts/texts-for.ts'
import { seeOther, type Pages, type SignedInRequest } from '../session/page-operation.ts'
import { usagePath } from './usage-page.ts'
import { doneText, timeOf } from '../layout/page-texts.ts'

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
          message: request.texts.places.badName({ max: maxUserName }),
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
  const { signedIn, visitor, query, form, texts } = request
  const said = texts.places
  const [mine, invited, mayFound] = await Promise.all([
    people.members.organizationsOf(signedIn.user.id),
    people.invitations.forUser(signedIn.user),
    people.accounts.mayFound(signedIn.user),
  ])
  return page({
    title: fault ? texts.problem({ title: texts.organizations }) : texts.organizations,
    lang: texts.lang,
    width: 'wide',
    visitor,
    section: 'organizations',
    ...(fault && { status: 400 }),
    content: html`<h1>${texts.organizations}</h1>
      ${doneNotice(doneText(query('done'), texts))} ${faultSummary(fault)}
      ${invited.length > 0 && invitedSection(invited, csrfField(visitor), texts)}
      <section class="sheet" aria-labelledby="mine">
        <h2 id="mine">${said.yours}</h2>
        ${
          mine.length > 0
            ? html`<ul class="rows">
                ${mine.map((one) => organizationRow(one, texts))}
              </ul>`
            : nowhere(signedIn.user.email, mayFound, said)
        }
      </section>
      ${
        mayFound &&
        html`<section class="sheet" aria-labelledby="found">
          <h2 id="found">${said.make}</h2>
          <form method="post" action="/organizations" novalidate>
            ${csrfField(visitor)}
            <div class="inline">
              ${textField({
                ...{ name: 'organization', label: texts.profile.name, autocomplete: 'organization', maxLength: maxUserName, fault },
                value: form.get('organization') ?? '',
              })}
              <button>${said.makeIt}</button>
            </div>
          </form>
        </section>`
      }`,
  })
}

const organizationRow = ({ organization: { id, name }, member: { role } }: Membership, { places: said, roles }: PageTexts): Html =>
  html`<li>
    <div>
      <h3>${name}</h3>
      <p class="meta">${roles[role].label}: ${roles[role].meaning}.</p>
    </div>
    <p class="side">
      ${scopesOfRole(role).scopes.length > 0 && html`<a class="button quiet" href="${path}/${id}/inboxes" aria-label="${said.capturedOf({ name })}">${said.captured}</a>`}
      ${scopesOfRole(role).seesBilling && html`<a class="button quiet" href="${usagePath(id)}" aria-label="${said.usageOf({ name })}">${said.usage}</a>`}
      ${role !== 'billing' && html`<a class="button quiet" href="${membersPath(id)}" aria-label="${said.membersOf({ name })}">${said.members}</a>`}
    </p>
  </li>`

const nowhere = (email: string, mayFound: boolean, said: PageTexts['places']): Html =>
  html`<p>${said.nowhere} ${mayFound ? said.makeBelow : said.askFor({ email })}</p>`

const invitedSection = (invited: readonly InvitationView[], csrf: Html, texts: PageTexts): Html =>
  html`<section class="sheet" aria-labelledby="invited">
    <h2 id="invited">${texts.places.invitations}</h2>
    <ul class="rows">
      ${invited.map(
        ({ invitation, organization }) =>
          html`<li>
            <div>
              <h3>${organization.name}</h3>
              <p class="meta">
                ${texts.places.invitedAs({ role: texts.roles[invitation.role].label, until: timeOf(invitation.expiresAt, texts.lang) })}
              </p>
            </div>
            <form class="side" method="post" action="/invitations/accept">
              ${csrf}<input type="hidden" name="organization" value="${organization.id}" />
              <input type="hidden" name="invitation" value="${invitation.id}" />
              <button aria-label="${texts.places.acceptOf({ name: organization.name })}">${texts.invitation.accept}</button>
            </form>
          </li>`,
      )}
    </ul>
  </section>`
