/** The page of members and invitations, with the forms that the reader may use. */
import type { ApiKey } from '#core/access/keys/api-key.ts'
import { roles, type Role, type RoleScopes } from '#core/access/principal/role.ts'
import type { Invitation } from '#core/people/members/invitation.ts'
import type { OpenedInvitation } from '#core/people/members/invitations.ts'
import type { Person } from '#core/people/members/members.ts'
import type { Refusal } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import { confirmFirst, csrfField } from '../session/confirm-first.ts'
import { doneNotice, faultSummary, selectField, textField, type FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import { keyChoice } from '../layout/key-choice.ts'
import { page } from '../layout/layout.ts'
import { leaveForm } from './leave-form.ts'
import { organizationEndPath } from './organization-end.ts'
import { membersPath } from './organizations.ts'
import type { Pages, SignedInRequest } from '../session/page-operation.ts'
import { timeOf } from '../layout/page-texts.ts'
import { saidIn, type PageTexts } from '../texts/texts-for.ts'

/** Facts about the reader for all rows. */
interface Reader {
  readonly userId: string
  readonly permissions: RoleScopes
  /** Shows the forms: the reader may use them, and the session was recently confirmed. */
  readonly mayChange: boolean
  /** The service can send its own mail. */
  readonly isMailed: boolean
  readonly csrf: Html
  readonly path: string
  /** API keys that are revoked with each member, by user id. */
  readonly endingKeys: ReadonlyMap<string, readonly ApiKey[]>
  readonly texts: PageTexts
}

const invitationsShown = 100

/** The result of a form, if there is one. */
export interface Happened {
  readonly done?: string | undefined
  readonly refusal?: Refusal
  /** An invitation whose creator must pass on the link. */
  readonly opened?: OpenedInvitation
}

export async function membersPage({ people }: Pages, request: SignedInRequest, { done, refusal, opened }: Happened = {}): Promise<Answer> {
  const { signedIn, visitor, params, form, texts } = request
  const { id = '' } = params
  const { user, session } = signedIn
  const principal = await people.members.principalOf(user.id, id)
  const [permissions, list, invited, mine, isMailed, endingKeys] = await Promise.all([
    people.members.scopesOfMember(id, user.id),
    people.members.list(principal),
    people.invitations.list(principal, { limit: invitationsShown }),
    people.members.organizationsOf(user.id),
    people.mail.isReady(),
    people.members.endingKeys(principal),
  ])
  const name = mine.find(({ organization }) => organization.id === id)?.organization.name ?? ''
  const isFresh = people.sessions.isFresh(session)
  const administers = permissions?.administersOrganization ?? false
  const reader: Reader = {
    ...{ userId: user.id, csrf: csrfField(visitor), path: membersPath(id), mayChange: administers && isFresh, isMailed, endingKeys },
    permissions: permissions ?? noPermissions,
    texts,
  }
  const fault = refusal && faultOf(refusal, texts)
  const { members: said } = texts.organization
  const title = texts.places.membersOf({ name })
  return page({
    title: fault ? texts.problem({ title }) : title,
    lang: texts.lang,
    width: 'wide',
    visitor,
    section: 'organizations',
    ...(fault && { status: 400 }),
    content: html`<p class="meta"><a class="back" href="/organizations">← ${texts.organizations}</a></p>
      <h1>${name}</h1>
      ${doneNotice(done)} ${opened?.link !== undefined && handOver(opened.email, opened.link, texts)} ${faultSummary(fault)}
      ${!isFresh && confirmFirst(reader.path, administers ? said.confirmChange : said.confirmLeave, texts)}
      <section class="sheet" aria-labelledby="members-title">
        <h2 id="members-title">${texts.places.members}</h2>
        <ul class="rows">
          ${list.map((person) => memberRow(person, reader))}
        </ul>
        ${isFresh && leaveForm(id, name, reader.csrf, { keys: endingKeys.get(user.id) ?? [], mayKeep: administers }, texts)}
        ${reader.permissions.owns && html`<p class="after"><a href="${organizationEndPath(id)}">${said.deleteThis}</a></p>`}
      </section>
      ${
        (reader.mayChange || invited.rows.length > 0) &&
        html`<section class="sheet" aria-labelledby="invited-title">
          <h2 id="invited-title">${texts.places.invitations}</h2>
          ${reader.mayChange && inviteForm(reader, fault, form)}
          <ul class="rows">
            ${invited.rows.map((invitation) => invitationRow(invitation, reader, people.invitations.isOpen(invitation)))}
          </ul>
        </section>`
      }`,
  })
}

const noPermissions: RoleScopes = { scopes: [], administersOrganization: false, seesBilling: false, owns: false }

const faultOf = ({ message, code }: Refusal, texts: PageTexts): FieldFault =>
  code === 'validation_failed'
    ? { field: 'email', message: texts.signIn.needsAddress }
    : { field: 'content', message: saidIn(texts, message) ?? message }

function memberRow({ member, user }: Person, reader: Reader): Html {
  const { texts } = reader
  const isReader = user.id === reader.userId
  const mayManage = reader.mayChange && !isReader && (member.role !== 'owner' || reader.permissions.owns)
  return html`<li>
    <div>
      <h3>${user.name || user.email} ${isReader && html`<span class="tag">${texts.organization.members.you}</span>`}</h3>
      <p class="meta">${user.name !== '' && html`${user.email} · `}${lastSeen(user.signedInAt, texts)}</p>
    </div>
    <p class="side"><span class="tag">${texts.roles[member.role].label}</span></p>
    ${mayManage && manage(user.id, user.name || user.email, member.role, reader)}
  </li>`
}

const lastSeen = (at: number | null, { lang, organization: { members } }: PageTexts): Html | string =>
  at === null ? members.neverSignedIn : members.signedIn({ at: timeOf(at, lang) })

function manage(userId: string, name: string, role: Role, { csrf, path, permissions, endingKeys, texts }: Reader): Html {
  const { members: said } = texts.organization
  const keys = endingKeys.get(userId) ?? []
  const member = html`${csrf}<input type="hidden" name="member" value="${userId}" />`
  return html`<details>
    <summary>${said.manage} <span class="hidden">${name}</span></summary>
    <div class="acts">
      <form class="inline" method="post" action="${path}/role">
        ${member} ${selectField(`role-${userId}`, 'role', said.role, roleChoices(permissions, texts), role)}
        <button class="quiet">${said.changeRole}</button>
      </form>
      ${keys.length > 0 && html`<p class="meta">${said.keysBounded({ name })}</p>`}
      ${
        permissions.owns &&
        role !== 'owner' &&
        html`<form method="post" action="${path}/transfer">
          ${member}
          <p>${said.becomesOwner({ name })}</p>
          <button class="quiet">${said.handOn}</button>
        </form>`
      }
      <form method="post" action="${path}/remove">
        ${member}
        <p>${said.accessEnds}</p>
        ${keyChoice(keys, { mayKeep: true, kept: said.kept }, texts)}
        <button class="danger">${texts.profile.remove}</button>
      </form>
    </div>
  </details>`
}

const roleChoices = ({ owns }: RoleScopes, texts: PageTexts) =>
  roles.filter((role) => owns || role !== 'owner').map((value) => ({ value, label: texts.roles[value].label }))

const inviteForm = ({ csrf, path, permissions, isMailed, texts }: Reader, fault: FieldFault | undefined, form: URLSearchParams): Html =>
  html`<form method="post" action="${path}/invite" novalidate>
    ${csrf}
    <p class="meta">${isMailed ? texts.organization.members.linkMailed : texts.organization.members.linkHanded}</p>
    <div class="inline">
      ${textField({
        ...{ name: 'email', label: texts.signIn.address, type: 'email', autocomplete: 'off', maxLength: 254, fault },
        value: fault ? (form.get('email') ?? '') : '',
      })}
      ${selectField('invite-role', 'role', texts.organization.members.role, roleChoices(permissions, texts), form.get('role') ?? 'developer')}
      <button>${texts.organization.members.invite}</button>
    </div>
    ${roleLegend(texts)}
  </form>`

const roleLegend = (texts: PageTexts): Html =>
  html`<details class="legend">
    <summary>${texts.organization.members.legend}</summary>
    <dl class="facts">
      ${roles.map(
        (role) =>
          html`<div>
            <dt>${texts.roles[role].label}</dt>
            <dd><span class="meta">${texts.roles[role].meaning}</span></dd>
          </div>`,
      )}
    </dl>
  </details>`

function invitationRow({ id, email, role, expiresAt }: Invitation, reader: Reader, isOpen: boolean): Html {
  const { mayChange, isMailed, csrf, path, texts } = reader
  const { members: said } = texts.organization
  const until = timeOf(expiresAt, texts.lang)
  const invitation = html`${csrf}<input type="hidden" name="invitation" value="${id}" />`
  return html`<li>
    <div>
      <h3>${email}</h3>
      <p class="meta">${texts.roles[role].label} · ${isOpen ? said.openUntil({ at: until }) : said.expired({ at: until })}</p>
    </div>
    ${
      mayChange &&
      html`<div class="side">
        <form method="post" action="${path}/resend">
          ${invitation}<button class="quiet" aria-label="${isMailed ? said.sendAgainTo({ email }) : said.newLinkFor({ email })}">
            ${isMailed ? said.sendAgain : said.newLink}
          </button>
        </form>
        <form method="post" action="${path}/revoke">
          ${invitation}<button class="danger" aria-label="${said.takeBackOf({ email })}">${said.takeBack}</button>
        </form>
      </div>`
    }
  </li>`
}

/** Shows an invitation link that its creator must pass on. */
const handOver = (email: string, link: string, { organization }: PageTexts): Html =>
  html`<div class="note" role="status">
    <p><b>${organization.handOver.heading({ email })}</b> ${organization.handOver.text}</p>
    <p class="target"><code class="token">${link}</code></p>
  </div>`
