/** The page behind the link of an invitation. It shows what it is about; only who has signed in with the invited address accepts it. */
import type { InvitationView } from '#core/people/invitations.ts'
import type { SignedIn } from '#core/people/sessions.ts'
import type { Answer } from '../answer.ts'
import type { Operation } from '../operation.ts'
import { csrfField } from './confirm-first.ts'
import { html, type Html } from './html.ts'
import { page, type Visitor } from './layout.ts'
import type { Pages } from './page-operation.ts'
import { roleWords, timeOf } from './words.ts'

export const invitationOperations = (pages: Pages): readonly Operation[] => [
  pages.open(
    { path: '/invitations/{token}', operationId: 'showInvitation', summary: 'Show an invitation' },
    async ({ params: { token = '' }, signedIn }) => {
      const view = await pages.people.invitations.look(token)
      return invitationPage(view, token, signedIn && { ...signedIn, visitor: pages.browsers.visitorOf(signedIn) })
    },
  ),
]

type Reader = (SignedIn & { readonly visitor: Visitor }) | undefined

function invitationPage(view: InvitationView, token: string, reader: Reader): Answer {
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
      ${wayIn(view, token, reader)}
    </div>`,
  })
}

function wayIn({ invitation, organization }: InvitationView, token: string, reader: Reader): Html {
  const next = `/invitations/${token}`
  if (!reader)
    return html`<p>Sign in with this address to accept.</p>
      <form method="post" action="/sign-in">
        <input type="hidden" name="next" value="${next}" />
        <input type="hidden" name="email" value="${invitation.email}" />
        <button>Mail me a sign-in link</button>
      </form>
      <p class="or">or</p>
      <a class="button quiet" href="/sign-in?next=${encodeURIComponent(next)}">Sign in another way</a>`
  if (reader.user.email !== invitation.email)
    return html`<p>You are signed in as <b>${reader.user.email}</b>. Sign out, and sign in as <b>${invitation.email}</b> to accept.</p>
      <a class="button quiet" href="/organizations">Go to your organizations</a>`
  return html`<form method="post" action="/invitations/accept">
    ${csrfField(reader.visitor)}<input type="hidden" name="organization" value="${organization.id}" />
    <input type="hidden" name="invitation" value="${invitation.id}" />
    <button>Accept</button>
  </form>`
}
