/** The page of an invitation link. It shows the invitation; only a user who signed in with the invited address can accept it. */
import type { InvitationView } from '#core/people/members/invitations.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { csrfField } from '../session/confirm-first.ts'
import { html, type Html } from '../layout/html.ts'
import { page, type Visitor } from '../layout/layout.ts'
import type { PageTexts } from '../texts/texts-for.ts'
import { seeOther, type Pages } from '../session/page-operation.ts'
import { operatorCommand } from '../layout/operator-command.ts'
import { timeOf } from '../layout/page-texts.ts'

export const invitationOperations = (pages: Pages): readonly Operation[] => [
  pages.open(
    { path: '/invitations/{token}', operationId: 'showInvitation', summary: 'Show an invitation' },
    async ({ params: { token = '' }, signedIn, texts }) => {
      const { people, browsers } = pages
      const view = await people.invitations.look(token)
      const [isMailed, mayJoin] = await Promise.all([people.mail.isReady(), people.handedInvitations.mayJoin(view.invitation)])
      return invitationPage(
        { ...view, token, isMailed, mayJoin, texts },
        signedIn && { ...signedIn, visitor: browsers.visitorOf(signedIn) },
      )
    },
  ),
  pages.openForm(
    { path: '/invitations/{token}', operationId: 'joinByInvitation', summary: 'Join with a link that was handed over' },
    async ({ params: { token = '' }, headers }) => {
      const { cookie } = await pages.people.handedInvitations.join(token, pages.browsers.browserOf(headers))
      return seeOther('/organizations?done=accepted', pages.browsers.keep(cookie))
    },
  ),
]

type Reader = (SignedIn & { readonly visitor: Visitor }) | undefined

interface Shown extends InvitationView {
  readonly token: string
  /** The service can send its own mail. */
  readonly isMailed: boolean
  /** The link alone is sufficient to join. */
  readonly mayJoin: boolean
  readonly texts: PageTexts
}

function invitationPage(view: Shown, reader: Reader): Answer {
  const { invitation, organization, texts } = view
  const { label, meaning } = texts.roles[invitation.role]
  return page({
    title: texts.invitation.title({ organization: organization.name }),
    lang: texts.lang,
    visitor: reader?.visitor,
    content: html`<div class="sheet">
      <h1>${texts.invitation.join({ organization: organization.name })}</h1>
      <dl class="facts">
        <div>
          <dt>${texts.invitation.invited}</dt>
          <dd>${invitation.email}</dd>
        </div>
        <div>
          <dt>${texts.invitation.as}</dt>
          <dd>${label} <span class="meta">(${meaning})</span></dd>
        </div>
        <div>
          <dt>${texts.invitation.until}</dt>
          <dd>${timeOf(invitation.expiresAt, texts.lang)}</dd>
        </div>
      </dl>
      ${reader ? acceptance(view, reader) : wayIn(view)}
    </div>`,
  })
}

function wayIn({ invitation, token, isMailed, mayJoin, texts }: Shown): Html {
  const said = texts.invitation
  const next = `/invitations/${token}`
  const another = `/sign-in?next=${encodeURIComponent(next)}`
  if (mayJoin)
    return html`<p>${said.makesAccount}</p>
      <form method="post" action="${next}"><button>${said.joinNow}</button></form>
      <p class="or">${texts.or}</p>
      <a class="button quiet" href="${another}">${said.haveAccount}</a>`
  if (!isMailed)
    return html`${operatorCommand(texts, { email: invitation.email, next, isMailed })}
      <a class="button" href="${another}">${said.signInToAccept}</a>`
  return html`<p>${said.signInWith}</p>
    <form method="post" action="/sign-in">
      <input type="hidden" name="next" value="${next}" />
      <input type="hidden" name="email" value="${invitation.email}" />
      <button>${said.mailLink}</button>
    </form>
    <p class="or">${texts.or}</p>
    <a class="button quiet" href="${another}">${said.otherWay}</a>`
}

function acceptance({ invitation, organization, token, texts }: Shown, reader: NonNullable<Reader>): Html {
  if (reader.user.email !== invitation.email)
    return html`<p>${texts.invitation.other({ own: reader.user.email, invited: invitation.email })}</p>
      <a class="button quiet" href="/organizations">${texts.invitation.toOrganizations}</a>`
  return html`<form method="post" action="/invitations/accept">
    ${csrfField(reader.visitor)}<input type="hidden" name="organization" value="${organization.id}" />
    <input type="hidden" name="invitation" value="${invitation.id}" />
    <input type="hidden" name="link" value="${token}" />
    <button>${texts.invitation.accept}</button>
  </form>`
}
