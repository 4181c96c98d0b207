/** The page behind the link of an invitation. It shows what it is about; only who has signed in with the invited address accepts it. */
import type { InvitationView } from '#core/people/members/invitations.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { csrfField } from '../session/confirm-first.ts'
import { html, type Html } from '../layout/html.ts'
import { page, type Visitor } from '../layout/layout.ts'
import { seeOther, type Pages } from '../session/page-operation.ts'
import { withoutMail } from '../layout/without-mail.ts'
import { roleWords, timeOf } from '../layout/page-words.ts'

export const invitationOperations = (pages: Pages): readonly Operation[] => [
  pages.open(
    { path: '/invitations/{token}', operationId: 'showInvitation', summary: 'Show an invitation' },
    async ({ params: { token = '' }, signedIn }) => {
      const { people, browsers } = pages
      const view = await people.invitations.look(token)
      const [isMailed, mayJoin] = await Promise.all([people.mail.isReady(), people.handedInvitations.mayJoin(view.invitation)])
      return invitationPage({ ...view, token, isMailed, mayJoin }, signedIn && { ...signedIn, visitor: browsers.visitorOf(signedIn) })
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
  /** The service sends mail of its own. */
  readonly isMailed: boolean
  /** The link alone is the way in. */
  readonly mayJoin: boolean
}

function invitationPage(view: Shown, reader: Reader): Answer {
  const { invitation, organization } = view
  const { label, meaning } = roleWords[invitation.role]
  return page({
    title: `Invitation to ${organization.name}`,
    visitor: reader?.visitor,
    content: html`<div class="sheet">
      <h1>Join ${organization.name}</h1>
      <dl class="facts">
        <div>
          <dt>For</dt>
          <dd>${invitation.email}</dd>
        </div>
        <div>
          <dt>As</dt>
          <dd>${label} <span class="meta">(${meaning})</span></dd>
        </div>
        <div>
          <dt>Open until</dt>
          <dd>${timeOf(invitation.expiresAt)}</dd>
        </div>
      </dl>
      ${reader ? acceptance(view, reader) : wayIn(view)}
    </div>`,
  })
}

function wayIn({ invitation, token, isMailed, mayJoin }: Shown): Html {
  const next = `/invitations/${token}`
  const another = `/sign-in?next=${encodeURIComponent(next)}`
  if (mayJoin)
    return html`<p>This makes your account here and signs you in. The link works once.</p>
      <form method="post" action="${next}"><button>Join</button></form>
      <p class="or">or</p>
      <a class="button quiet" href="${another}">Sign in with an account you have</a>`
  if (!isMailed) return html`${withoutMail(invitation.email)} <a class="button" href="${another}">Sign in to accept</a>`
  return html`<p>Sign in with this address to accept.</p>
    <form method="post" action="/sign-in">
      <input type="hidden" name="next" value="${next}" />
      <input type="hidden" name="email" value="${invitation.email}" />
      <button>Email me a sign-in link</button>
    </form>
    <p class="or">or</p>
    <a class="button quiet" href="${another}">Sign in another way</a>`
}

function acceptance({ invitation, organization, token }: Shown, reader: NonNullable<Reader>): Html {
  if (reader.user.email !== invitation.email)
    return html`<p>You are signed in as <b>${reader.user.email}</b>. Sign out, and sign in as <b>${invitation.email}</b> to accept.</p>
      <a class="button quiet" href="/organizations">Go to your organizations</a>`
  return html`<form method="post" action="/invitations/accept">
    ${csrfField(reader.visitor)}<input type="hidden" name="organization" value="${organization.id}" />
    <input type="hidden" name="invitation" value="${invitation.id}" />
    <input type="hidden" name="link" value="${token}" />
    <button>Accept</button>
  </form>`
}
