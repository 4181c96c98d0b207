/** How members and invitations are shown, with the forms that the reader may use. */
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
import { handOver } from '../layout/without-mail.ts'
import { roleWords, timeOf } from '../layout/page-words.ts'

/** What every row needs to know of its reader. */
interface Reader {
  readonly userId: string
  readonly permissions: RoleScopes
  /** Forms are shown: the reader may use them, and has confirmed who they are. */
  readonly mayChange: boolean
  /** The service sends mail of its own. */
  readonly isMailed: boolean
  readonly csrf: Html
  readonly path: string
  /** The API keys that end with each member, by the id of the user. */
  readonly endingKeys: ReadonlyMap<string, readonly ApiKey[]>
}

const invitationsShown = 100

/** What has just happened, where something has. */
export interface Happened {
  readonly done?: string | undefined
  readonly refusal?: Refusal
  /** An invitation whose link its maker has to hand over. */
  readonly opened?: OpenedInvitation
}

export async function membersPage({ people }: Pages, request: SignedInRequest, { done, refusal, opened }: Happened = {}): Promise<Answer> {
  const { signedIn, visitor, params, form } = request
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
  }
  const fault = refusal && faultOf(refusal)
  return page({
    title: `${fault ? 'Problem: ' : ''}Members of ${name}`,
    width: 'wide',
    visitor,
    section: 'organizations',
    ...(fault && { status: 400 }),
    content: html`<p class="meta"><a class="back" href="/organizations">← Organizations</a></p>
      <h1>${name}</h1>
      ${doneNotice(done)} ${opened?.link !== undefined && handOver(opened.email, opened.link)} ${faultSummary(fault)}
      ${!isFresh && confirmFirst(reader.path, administers ? 'To change members, confirm your identity.' : 'To leave, confirm your identity.')}
      <section class="sheet" aria-labelledby="members-title">
        <h2 id="members-title">Members</h2>
        <ul class="rows">
          ${list.map((person) => memberRow(person, reader))}
        </ul>
        ${isFresh && leaveForm(id, name, reader.csrf, { keys: endingKeys.get(user.id) ?? [], mayKeep: administers })}
        ${reader.permissions.owns && html`<p class="after"><a href="${organizationEndPath(id)}">Delete this organization</a></p>`}
      </section>
      ${
        (reader.mayChange || invited.rows.length > 0) &&
        html`<section class="sheet" aria-labelledby="invited-title">
          <h2 id="invited-title">Invitations</h2>
          ${reader.mayChange && inviteForm(reader, fault, form)}
          <ul class="rows">
            ${invited.rows.map((invitation) => invitationRow(invitation, reader, people.invitations.isOpen(invitation)))}
          </ul>
        </section>`
      }`,
  })
}

const noPermissions: RoleScopes = { scopes: [], administersOrganization: false, seesBilling: false, owns: false }

const faultOf = ({ message, code }: Refusal): FieldFault =>
  code === 'validation_failed'
    ? { field: 'email', message: 'Enter an email address, such as name@example.org.' }
    : { field: 'content', message }

function memberRow({ member, user }: Person, reader: Reader): Html {
  const isReader = user.id === reader.userId
  const mayManage = reader.mayChange && !isReader && (member.role !== 'owner' || reader.permissions.owns)
  return html`<li>
    <div>
      <h3>${user.name || user.email} ${isReader && html`<span class="tag">You</span>`}</h3>
      <p class="meta">${user.name !== '' && html`${user.email} · `}${lastSeen(user.signedInAt)}</p>
    </div>
    <p class="side"><span class="tag">${roleWords[member.role].label}</span></p>
    ${mayManage && manage(user.id, user.name || user.email, member.role, reader)}
  </li>`
}

const keptWords = 'A kept key keeps its limits. The removed member may still know its secret: rotate it.'

const lastSeen = (at: number | null): Html => (at === null ? html`Never signed in` : html`Signed in ${timeOf(at)}`)

function manage(userId: string, name: string, role: Role, { csrf, path, permissions, endingKeys }: Reader): Html {
  const keys = endingKeys.get(userId) ?? []
  const member = html`${csrf}<input type="hidden" name="member" value="${userId}" />`
  return html`<details>
    <summary>Manage <span class="hidden">${name}</span></summary>
    <div class="acts">
      <form class="inline" method="post" action="${path}/role">
        ${member} ${selectField(`role-${userId}`, 'role', 'Role', roleChoices(permissions), role)}
        <button class="quiet">Change role</button>
      </form>
      ${keys.length > 0 && html`<p class="meta">API keys that ${name} created never exceed this role.</p>`}
      ${
        permissions.owns &&
        role !== 'owner' &&
        html`<form method="post" action="${path}/transfer">
          ${member}
          <p>${name} becomes owner, and you become admin.</p>
          <button class="quiet">Hand on ownership</button>
        </form>`
      }
      <form method="post" action="${path}/remove">
        ${member}
        <p>Access ends immediately. SMTP credentials and publishable keys belong to their project and remain.</p>
        ${keyChoice(keys, { mayKeep: true, kept: keptWords })}
        <button class="danger">Remove</button>
      </form>
    </div>
  </details>`
}

const roleChoices = ({ owns }: RoleScopes) =>
  roles.filter((role) => owns || role !== 'owner').map((value) => ({ value, label: roleWords[value].label }))

const inviteForm = ({ csrf, path, permissions, isMailed }: Reader, fault: FieldFault | undefined, form: URLSearchParams): Html =>
  html`<form method="post" action="${path}/invite" novalidate>
    ${csrf}
    <p class="meta">
      ${
        isMailed
          ? 'A link is mailed, valid for 7 days. Any person who signs in with this address can accept.'
          : 'This service sends no mail of its own: you get a link, valid for 7 days, to hand over. Anyone who has it can join.'
      }
    </p>
    <div class="inline">
      ${textField({
        ...{ name: 'email', label: 'Mail address', type: 'email', autocomplete: 'off', maxLength: 254, fault },
        value: fault ? (form.get('email') ?? '') : '',
      })}
      ${selectField('invite-role', 'role', 'Role', roleChoices(permissions), form.get('role') ?? 'developer')}
      <button>Invite</button>
    </div>
    ${roleLegend}
  </form>`

const roleLegend: Html = html`<details class="legend">
  <summary>What the roles may do</summary>
  <dl class="facts">
    ${roles.map(
      (role) =>
        html`<div>
          <dt>${roleWords[role].label}</dt>
          <dd><span class="meta">${roleWords[role].meaning}</span></dd>
        </div>`,
    )}
  </dl>
</details>`

function invitationRow({ id, email, role, expiresAt }: Invitation, { mayChange, isMailed, csrf, path }: Reader, isOpen: boolean): Html {
  const invitation = html`${csrf}<input type="hidden" name="invitation" value="${id}" />`
  return html`<li>
    <div>
      <h3>${email}</h3>
      <p class="meta">${roleWords[role].label} · ${isOpen ? html`open until ${timeOf(expiresAt)}` : html`expired ${timeOf(expiresAt)}`}</p>
    </div>
    ${
      mayChange &&
      html`<div class="side">
        <form method="post" action="${path}/resend">
          ${invitation}<button class="quiet" aria-label="${isMailed ? 'Send again to' : 'Make a new link for'} ${email}">
            ${isMailed ? 'Send again' : 'New link'}
          </button>
        </form>
        <form method="post" action="${path}/revoke">
          ${invitation}<button class="danger" aria-label="Take back the invitation of ${email}">Take back</button>
        </form>
      </div>`
    }
  </li>`
}
