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
import type { PageTexts } from '../texts/texts-for.ts'
import { seeOther, type Pages, type SignedInRequest } from '../session/page-operation.ts'
import { passkeyCreation } from './passkey-form.ts'
import { confirmFirst, csrfField } from '../session/confirm-first.ts'
import { browserOf, doneText, timeOf } from '../layout/page-texts.ts'

const path = '/account'
const back = (): string => path
const doneAt = (what: string): Answer => seeOther(`${path}?done=${what}`)

export const accountOperations = (pages: Pages): readonly Operation[] => {
  const { people } = pages
  return [
    pages.signedIn({ path, operationId: 'showAccount', summary: 'Show the account' }, (request) =>
      accountPage(pages, request, doneText(request.query('done'), request.texts)),
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
          message: request.texts.profile.badName({ max: maxUserName }),
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
  const { visitor, signedIn, texts } = request
  const said = texts.profile
  const { user, session } = signedIn
  const sessions = await people.sessions.list(user.id)
  const csrf = csrfField(visitor)
  return page({
    title: fault ? texts.problem({ title: texts.account }) : texts.account,
    lang: texts.lang,
    width: 'wide',
    visitor,
    section: 'account',
    hasScript: people.passkeys.areAvailable,
    ...(fault && { status: 400 }),
    content: html`<h1>${texts.account}</h1>
      <p class="lead">${user.email}</p>
      ${doneNotice(done)} ${faultSummary(fault)}
      <section class="sheet" aria-labelledby="name-title">
        <h2 id="name-title">${said.yourName}</h2>
        <form method="post" action="/account/name" novalidate>
          ${csrf}
          <div class="inline">
            ${textField({
              ...{ name: 'name', label: said.name, autocomplete: 'name', maxLength: maxUserName, fault, isOptional: true },
              value: fault ? (request.form.get('name') ?? '') : user.name,
              hint: said.nameHint,
            })}
            <button class="quiet">${said.save}</button>
          </div>
        </form>
      </section>
      <section class="sheet" aria-labelledby="applications-title">
        <h2 id="applications-title">${texts.applications.title}</h2>
        <p class="meta">${said.applicationsText}</p>
        <p class="after"><a class="button quiet" href="${applicationsPath}">${said.showApplications}</a></p>
      </section>
      <section class="sheet" aria-labelledby="captured-title">
        <h2 id="captured-title">${said.captured}</h2>
        <p class="meta">${said.capturedText}</p>
        <p class="after">${mailLinks(await people.members.organizationsOf(user.id), said)}</p>
      </section>
      ${people.passkeys.areAvailable ? await passkeySection(pages, request, csrf) : noPasskeys(people.relyingParty, said)}
      <section class="sheet" aria-labelledby="sessions-title">
        <h2 id="sessions-title">${said.sessions}</h2>
        <p class="meta">${said.sessionsText}</p>
        <ul class="rows">
          ${sessions.map((one) => sessionRow(one, one.id === session.id, csrf, texts))}
        </ul>
        ${
          sessions.length > 1 &&
          html`<form class="after" method="post" action="/account/sessions/end-others">
            ${csrf}<button class="quiet">${said.endOthers}</button>
          </form>`
        }
      </section>`,
  })
}

/** Browsers accept passkeys only over https or on localhost (WebAuthn Level 3 §5.1.2). */
const noPasskeys = ({ origin }: RelyingParty, said: PageTexts['profile']): Html =>
  html`<section class="sheet" aria-labelledby="passkeys-title">
    <h2 id="passkeys-title">${said.passkeys}</h2>
    <p class="meta">${said.passkeysOff({ origin })}</p>
  </section>`

const mailLinks = (mine: readonly Membership[], said: PageTexts['profile']): Html | readonly Html[] => {
  const readable = mine.filter(({ member }) => scopesOfRole(member.role).scopes.length > 0)
  if (readable.length === 0) return html`${said.capturedNone}`
  return readable.map(({ organization: { id, name } }) => html`<a class="button quiet" href="/organizations/${id}/inboxes">${name}</a> `)
}

async function passkeySection({ people }: Pages, { signedIn, visitor, texts }: SignedInRequest, csrf: Html): Promise<Html> {
  const { user, session } = signedIn
  const said = texts.profile
  const isFresh = people.sessions.isFresh(session)
  const list = await people.passkeys.list(user.id)
  return html`<section class="sheet" aria-labelledby="passkeys-title">
    <h2 id="passkeys-title">${said.passkeys}</h2>
    <p class="meta">${said.passkeysText}</p>
    ${
      list.length > 0 &&
      html`<ul class="rows">
        ${list.map((passkey) => passkeyRow(passkey, isFresh, csrf, texts))}
      </ul>`
    }
    <div class="after">
      ${
        isFresh
          ? html`${passkeyCreation(await people.passkeys.creationOptions(user), visitor.csrfToken, said)}
              <noscript><p class="meta">${said.needsScript}</p></noscript>`
          : confirmFirst('/account', said.confirmPasskeys, texts)
      }
    </div>
  </section>`
}

const passkeyRow = (
  { id, name, isSynced, createdAt, usedAt }: Passkey,
  isFresh: boolean,
  csrf: Html,
  { lang, profile: said }: PageTexts,
): Html =>
  html`<li>
    <div>
      <h3>${name}</h3>
      <p class="meta">
        ${said.passkeyUse({ added: timeOf(createdAt, lang), used: usedAt === null ? undefined : timeOf(usedAt, lang) })}
        ${isSynced ? said.isSynced : said.isLocal}
      </p>
    </div>
    ${
      isFresh &&
      html`<form class="side" method="post" action="/account/passkeys/remove">
        ${csrf}<input type="hidden" name="id" value="${id}" /><button class="danger" aria-label="${said.removePasskey({ name })}">
          ${said.remove}
        </button>
      </form>`
    }
  </li>`

const sessionRow = ({ id, userAgent, method, createdAt, seenAt }: Session, isThis: boolean, csrf: Html, texts: PageTexts): Html =>
  html`<li>
    <div>
      <h3>${browserOf(userAgent, texts)} ${isThis && html`<span class="tag">${texts.profile.thisBrowser}</span>`}</h3>
      <p class="meta">
        ${texts.profile.sessionUse({ since: timeOf(createdAt, texts.lang), by: method === 'passkey' ? 'passkey' : 'link', seen: timeOf(seenAt, texts.lang) })}
      </p>
    </div>
    ${
      !isThis &&
      html`<form class="side" method="post" action="/account/sessions/end">
        ${csrf}<input type="hidden" name="id" value="${id}" /><button
          class="danger"
          aria-label="${texts.profile.endSession({ browser: browserOf(userAgent, texts) })}"
        >
          ${texts.profile.end}
        </button>
      </form>`
    }
  </li>`
