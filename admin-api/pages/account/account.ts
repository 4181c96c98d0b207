/** The user's own account: name, passkeys, sessions. */
import type { Membership } from '#core/people/members/members.ts'
import type { Passkey } from '#core/people/sign-in/passkey.ts'
import type { RelyingParty } from '#core/people/sign-in/relying-party.ts'
import { scopesOfRole } from '#core/access/principal/role.ts'
import type { Session } from '#core/people/sign-in/session.ts'
import { maxUserName } from '#core/people/users/user.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { applicationsPath } from '../consent/applications.ts'
import { doneNotice, faultSummary, textField, type FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { seeOther, type Pages, type SignedInRequest } from '../session/page-operation.ts'
import { passkeyCreation } from './passkey-form.ts'
import { confirmFirst, csrfField } from '../session/confirm-first.ts'
import { browserOf, doneWords, timeOf } from '../layout/page-words.ts'

const path = '/account'
const back = (): string => path
const doneAt = (what: string): Answer => seeOther(`${path}?done=${what}`)

export const accountOperations = (pages: Pages): readonly Operation[] => {
  const { people } = pages
  return [
    pages.signedIn({ path, operationId: 'showAccount', summary: 'Show the account' }, (request) =>
      accountPage(pages, request, doneWords(request.query('done'))),
    ),
    pages.form(
      { path: '/account/name', operationId: 'saveName', summary: 'Change the name', back },
      async ({ signedIn, form }) => {
        await people.accounts.rename(signedIn.user, form.get('name') ?? '')
        return doneAt('name')
      },
      (request) =>
        accountPage(pages, request, undefined, {
          field: 'name',
          message: `Keep the name on one line, with at most ${maxUserName} characters.`,
        }),
    ),
    pages.form(
      { path: '/account/passkeys', operationId: 'addPasskey', summary: 'Add a passkey', back },
      async ({ signedIn, form, headers }) => {
        const name = browserOf(headers['user-agent'] ?? '')
        await people.passkeys.register(signedIn.user, signedIn.session, name, form.get('response') ?? '')
        return doneAt('passkey_added')
      },
    ),
    pages.form(
      { path: '/account/passkeys/remove', operationId: 'removePasskey', summary: 'Remove a passkey', back },
      async ({ signedIn, form }) => {
        await people.passkeys.remove(signedIn.user, signedIn.session, form.get('id') ?? '')
        return doneAt('passkey_removed')
      },
    ),
    pages.form({ path: '/account/sessions/end', operationId: 'endSession', summary: 'End a session', back }, async ({ signedIn, form }) => {
      await people.accounts.endSession(signedIn.user, form.get('id') ?? '')
      return doneAt('session_ended')
    }),
    pages.form(
      { path: '/account/sessions/end-others', operationId: 'endOtherSessions', summary: 'End all other sessions', back },
      async ({ signedIn }) => {
        await people.accounts.endOtherSessions(signedIn.user, signedIn.session)
        return doneAt('sessions_ended')
      },
    ),
  ]
}

async function accountPage(pages: Pages, request: SignedInRequest, done: string | undefined, fault?: FieldFault): Promise<Answer> {
  const { people } = pages
  const { visitor, signedIn } = request
  const { user, session } = signedIn
  const sessions = await people.sessions.list(user.id)
  const csrf = csrfField(visitor)
  return page({
    title: fault ? 'Problem: Account' : 'Account',
    width: 'wide',
    visitor,
    section: 'account',
    hasScript: people.passkeys.areAvailable,
    ...(fault && { status: 400 }),
    content: html`<h1>Account</h1>
      <p class="lead">${user.email}</p>
      ${doneNotice(done)} ${faultSummary(fault)}
      <section class="sheet" aria-labelledby="name-title">
        <h2 id="name-title">Your name</h2>
        <form method="post" action="/account/name" novalidate>
          ${csrf}
          <div class="inline">
            ${textField({
              ...{ name: 'name', label: 'Name', autocomplete: 'name', maxLength: maxUserName, fault, isOptional: true },
              value: fault ? (request.form.get('name') ?? '') : user.name,
              hint: 'Other members of your organizations see it.',
            })}
            <button class="quiet">Save</button>
          </div>
        </form>
      </section>
      <section class="sheet" aria-labelledby="applications-title">
        <h2 id="applications-title">Applications with access</h2>
        <p class="meta">Applications and agents that have access to your projects.</p>
        <p class="after"><a class="button quiet" href="${applicationsPath}">Show applications</a></p>
      </section>
      <section class="sheet" aria-labelledby="captured-title">
        <h2 id="captured-title">Captured mail</h2>
        <p class="meta">Messages that were captured instead of sent, by organization and virtual inbox.</p>
        <p class="after">${mailLinks(await people.members.organizationsOf(user.id))}</p>
      </section>
      ${people.passkeys.areAvailable ? await passkeySection(pages, request, csrf) : noPasskeys(people.relyingParty)}
      <section class="sheet" aria-labelledby="sessions-title">
        <h2 id="sessions-title">Active sessions</h2>
        <p class="meta">A session ends automatically after 14 days without use.</p>
        <ul class="rows">
          ${sessions.map((one) => sessionRow(one, one.id === session.id, csrf))}
        </ul>
        ${
          sessions.length > 1 &&
          html`<form class="after" method="post" action="/account/sessions/end-others">
            ${csrf}<button class="quiet">End all others</button>
          </form>`
        }
      </section>`,
  })
}

/** Browsers bind passkeys to a name that is reached over https, or to localhost (WebAuthn Level 3 §5.1.2). */
const noPasskeys = ({ origin }: RelyingParty): Html =>
  html`<section class="sheet" aria-labelledby="passkeys-title">
    <h2 id="passkeys-title">Passkeys</h2>
    <p class="meta">
      Not available here: browsers allow passkeys only under a name with https, or on localhost, and this service presents itself as
      <code class="token">${origin}</code>. Its operator can set <code>POSTERN_BASE_URL</code> to an https address with a name.
    </p>
  </section>`

const mailLinks = (mine: readonly Membership[]): Html | readonly Html[] => {
  const readable = mine.filter(({ member }) => scopesOfRole(member.role).scopes.length > 0)
  if (readable.length === 0) return html`You can read the mail of no organization.`
  return readable.map(({ organization: { id, name } }) => html`<a class="button quiet" href="/organizations/${id}/inboxes">${name}</a> `)
}

async function passkeySection({ people }: Pages, { signedIn, visitor }: SignedInRequest, csrf: Html): Promise<Html> {
  const { user, session } = signedIn
  const isFresh = people.sessions.isFresh(session)
  const list = await people.passkeys.list(user.id)
  return html`<section class="sheet" aria-labelledby="passkeys-title">
    <h2 id="passkeys-title">Passkeys</h2>
    <p class="meta">Sign in with your fingerprint, your face or the lock of your device, without waiting for mail.</p>
    ${
      list.length > 0 &&
      html`<ul class="rows">
        ${list.map((passkey) => passkeyRow(passkey, isFresh, csrf))}
      </ul>`
    }
    <div class="after">
      ${
        isFresh
          ? html`${passkeyCreation(await people.passkeys.creationOptions(user), visitor.csrfToken)}
              <noscript><p class="meta">Adding a passkey needs JavaScript. Everything else works without it.</p></noscript>`
          : confirmFirst('/account', 'To add or remove passkeys, confirm your identity.')
      }
    </div>
  </section>`
}

const passkeyRow = ({ id, name, isSynced, createdAt, usedAt }: Passkey, isFresh: boolean, csrf: Html): Html =>
  html`<li>
    <div>
      <h3>${name}</h3>
      <p class="meta">
        Added ${timeOf(createdAt)}${usedAt !== null && html`, last used ${timeOf(usedAt)}`}.
        ${isSynced ? 'Synced between your devices.' : 'On one device only.'}
      </p>
    </div>
    ${
      isFresh &&
      html`<form class="side" method="post" action="/account/passkeys/remove">
        ${csrf}<input type="hidden" name="id" value="${id}" /><button class="danger" aria-label="Remove the passkey ${name}">Remove</button>
      </form>`
    }
  </li>`

const sessionRow = ({ id, userAgent, method, createdAt, seenAt }: Session, isThis: boolean, csrf: Html): Html =>
  html`<li>
    <div>
      <h3>${browserOf(userAgent)} ${isThis && html`<span class="tag">This browser</span>`}</h3>
      <p class="meta">Since ${timeOf(createdAt)}, by ${method === 'passkey' ? 'passkey' : 'link'}. Last seen ${timeOf(seenAt)}.</p>
    </div>
    ${
      !isThis &&
      html`<form class="side" method="post" action="/account/sessions/end">
        ${csrf}<input type="hidden" name="id" value="${id}" /><button
          class="danger"
          aria-label="End the session in ${browserOf(userAgent)}"
        >
          End
        </button>
      </form>`
    }
  </li>`
